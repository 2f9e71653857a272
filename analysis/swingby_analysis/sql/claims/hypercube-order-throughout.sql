-- Of every seed of one linear layer: does u <= v entry by entry imply loss(x^(u)) <= loss(x^(v)) (B.2) for every pair
-- of test points at every recorded step after the start, until all is learned? A pair is out of order if loss(x^(u)) >
-- 1.02 loss(x^(v)) + 0.001, as at the ends of epochs; pairs of which both losses are within 0.001 do not count. Seeds
-- without any other tell nothing. One row with the node v = 0, one without.
with
-- include: claims/shared/runs,
records as (
    select convention, seed, model, layers, s, d, unnest(step) as placed, unnest(hierarchy_loss) as losses
    from runs
    where hierarchy_loss is not null and drive = 'sgd' and model = 'one_layer'
),
pairs as (
    select
        convention, seed, model, layers, s, d, placed, u > 0 as inner_pair,
        losses[u + 1] > 1.02 * losses[v + 1] + 0.001 as wrong
    from records, range(0, (1 << s)::bigint) below(u), range(0, (1 << s)::bigint) above(v)
    where u <> v and u & v = u and placed > 0 and greatest(losses[u + 1], losses[v + 1]) > 0.001
),
parts as (
    select *, 'all pairs' as which from pairs
    union all
    select *, 'without the node 0' from pairs where inner_pair
),
seeds as (
    select
        convention, seed, model, layers, s, d, which, avg(wrong::integer) as share,
        count(distinct placed) as records, max(placed) as last_step
    from parts
    group by all
)
select
    convention, format('{}, L = {}, s = {}, d = {}; {}', model, layers, s, d, which) as setting,
    count(*) as n,
    count(*) filter (where share = 0) as k,
    format(
        'pairs out of order: {:.2f} % (mean seed), {:.2f} % (worst); {} records, up to step {} (medians)',
        100 * avg(share), 100 * max(share), median(records)::bigint, median(last_step)::bigint
    ) as measured
from seeds
group by convention, model, layers, s, d, which
order by convention, model, which
