-- Of every seed of which theory speaks: do all major entries (one layer: outputs) arrive within 10 % of their predicted
-- time, at every point of the grid?
with
-- include: claims/shared/runs,
-- include: claims/shared/theory,
seeds as (
    select
        convention, model, drive, s, d, seed, bool_and(times_within_tenth >= 1) as holds,
        avg(times_within_tenth) as tenth
    from with_theory
    where times_within_tenth is not null and model <> 'w_recurrence' and drive <> 'closed_form'
    group by all
)
select
    convention, format('{}, {}, s = {}, d = {}', model, drive, s, d) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format('{:.0f} % of all times are within 10 % of their prediction', 100 * avg(tenth)) as measured
from seeds
group by convention, model, drive, s, d
order by convention, model, drive, s
