-- Of every pair of test points, u below v, in a seed of `asked`, after epochs 1, 3 and 5: is its order wrong? Pairs of
-- which both losses are within the tolerance are learned, and tell no order. Rows with and without the node v = 0.
-- Repaired after results were seen: pairs that were learned counted as in order, so that a net that had learned all by
-- the end of epoch 1 passed without a pair that could be wrong.
epochs as (
    select
        convention, seed, model, layers, s, d, epoch,
        arg_min(losses, abs(placed - epoch * ceil((s + zero_cluster::integer) * n / batch_size))) as losses
    from (
        select *, unnest(step) as placed, unnest(hierarchy_loss) as losses
        from asked
    ), (values (1), (3), (5)) e(epoch)
    group by all
),
pairs as (
    select
        convention, seed, model, layers, s, d, epoch, u > 0 as inner_pair,
        greatest(losses[u + 1], losses[v + 1]) > 0.001 as tells,
        losses[u + 1] > 1.02 * losses[v + 1] + 0.001 as wrong, greatest(losses[u + 1], losses[v + 1]) as larger
    from epochs, range(0, (1 << s)::bigint) below(u), range(0, (1 << s)::bigint) above(v)
    where u <> v and u & v = u
),
parts as (
    select *, 'all pairs' as which from pairs
    union all
    select *, 'without the node 0' from pairs where inner_pair
),
seeds as (
    select
        convention, seed, model, layers, s, d, which,
        avg(wrong::integer) filter (where tells) as share,
        avg(wrong::integer) filter (where tells and epoch = 1) as first,
        avg(wrong::integer) filter (where tells and epoch = 5) as fifth, max(larger) filter (where epoch = 1) as largest
    from parts
    group by all
)
select
    convention, format('{}, L = {}, s = {}, d = {}; {}', model, layers, s, d, which) as setting,
    count(share) as n,
    count(*) filter (where share = 0) as k,
    coalesce(
        format(
            'pairs out of order: {:.1f} % (mean seed), {:.1f} % (worst); epoch 1 {:.1f} %, epoch 5 {}',
            100 * avg(share), 100 * max(share), 100 * avg(first),
            coalesce(format('{:.1f} %', 100 * avg(fifth)), 'none left')
        ),
        format('all is learned by then: no loss above {:.2g} after epoch 1 (the tolerance is 0.001)', max(largest))
    ) as measured
from seeds
group by convention, model, layers, s, d, which
order by convention, model, which
