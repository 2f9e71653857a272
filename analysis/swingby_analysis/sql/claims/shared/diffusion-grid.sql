-- Pairs of runs of a seed of which one contrast, `fixed`, is the same, and how often the run in which the other one,
-- `grown`, is larger has the concept of that contrast further ahead (`lead`: 1 it comes first, 0 a tie, -1 the other).
pairs as (
    select
        low.convention, low.model, low.judge, low.seed, high.lead <> low.lead as differs, high.lead > low.lead as agrees
    from leads low join leads high using (convention, model, judge, seed, fixed)
    where low.grown < high.grown
),
seeds as (
    select
        convention, model, judge, seed,
        count(*) filter (where differs) as differing, count(*) filter (where agrees) as agreeing
    from pairs
    group by all
)
select
    convention, format('{} judge; {}', judge, model) as setting,
    count(*) filter (where differing > 0) as n,
    count(*) filter (where differing > 0 and agreeing >= 0.9 * differing) as k,
    format(
        'pairs whose order differs: {}, of which it goes that way in {}; per seed {} to {} pairs',
        sum(differing)::bigint, sum(agreeing)::bigint, min(differing), max(differing)
    ) as measured
from seeds
group by convention, model, judge
order by convention, model, judge
