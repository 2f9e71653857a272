-- sweeps: diagram-scalar-recovery
-- asks: Of every seed: which of two lines tells better which runs generalize: the statistical dimension of the l1
--     descent cone at k/d (a limit of large d, without a fitted number), or one number of points for all targets, the
--     one that errs least? Runs that were still moving at their end are left out.
-- fresh fresh-scalar-recovery: What generalizes late is what the least l1-norm recovers
-- found: Late generalization has the limit of l1 recovery: with more points than its threshold asks for, {above:.0%} of
--     the runs generalize in the end, with fewer {below:.0%}; the line tells {wrong:.1%} of the runs wrong, the best
--     single number of points, {any_value(border):.0f}, tells {by_border:.1%} wrong.
-- not found: Late generalization has not the limit of l1 recovery: with more points than its threshold asks for,
--     {above:.0%} of the runs generalize in the end, with fewer {below:.0%}; the line tells {wrong:.1%} of the runs
--     wrong, the best single number of points, {any_value(border):.0f}, {by_border:.1%}.
-- cannot be told: Whether late generalization has the limit of l1 recovery cannot be told: with more points than its
--     threshold asks for, {above:.0%} of the runs generalize in the end, with fewer {below:.0%}.
with told as (select * from runs where generalizes is not null),
fixed as (
    select border, avg((generalizes <> (points > border))::integer) as wrong
    from told, (select distinct points as border from told) borders
    group by border
),
best as (select arg_min(border, (wrong, border)) as border from fixed)
select
    seed, any_value(border) as border, avg(generalizes::integer) filter (where enough_points) as above,
    avg(generalizes::integer) filter (where not enough_points) as below,
    avg((generalizes <> enough_points)::integer) as wrong, avg((generalizes <> (points > border))::integer) as by_border,
    by_border - wrong as effect
from told, best
group by seed
