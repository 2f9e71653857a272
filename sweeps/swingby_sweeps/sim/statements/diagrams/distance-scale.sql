-- asks: At one distance of the test point in units of sigma (in bins of a factor of 1.4): does it matter how far out
--     the clusters are themselves? Where full-batch twins were recorded they have to say so too.
-- found: At one distance in units of sigma it matters how far out the clusters are themselves: farther out, transient
--     memorization is more common, {far_out:.0%} of the stable runs against {near_by:.0%}.{any_value(twins)}
-- contrary: At one distance in units of sigma it matters how far out the clusters are themselves: farther out,
--     transient memorization is rarer, {far_out:.0%} of the stable runs against {near_by:.0%}.{any_value(twins)}
-- cannot be told: At one distance in units of sigma no difference can be told by how far out the clusters are
--     themselves: {near_by:.1%} of the stable runs where mu_1 is below 1, {far_out:.1%} where it is
--     above.{any_value(twins)}
-- after: It was asked of all runs, diverged and unstable ones too, and of no twins.
--
-- slug distance-scale: diagram-distance
-- slug distance-scale-relu: diagram-distance-relu
with bins as (
    select
        seed, round(2 * log2(distance)) as bin, avg(swings::integer) filter (where mu[1] > 1) as far_out,
        avg(swings::integer) filter (where mu[1] < 1) as near_by,
        avg(twin_swings::integer) filter (where mu[1] > 1) as twins_far_out,
        avg(twin_swings::integer) filter (where mu[1] < 1) as twins_near_by
    from placed
    where outcome is distinct from 'diverged' and not coalesce(lr > steepest_rate, false)
    group by seed, bin
),
both_sides as (select * from bins where far_out is not null and near_by is not null)
select
    seed, avg(far_out - near_by) as effect, avg(near_by) as near_by, avg(far_out) as far_out,
    coalesce(avg(twins_far_out - twins_near_by), avg(far_out - near_by)) as effect_2,
    coalesce((
        select format(
            ' Of their full-batch twins {:.0f} % farther out against {:.0f} %.',
            100 * avg(twins_far_out), 100 * avg(twins_near_by)
        )
        from both_sides
    ), (select words from twins_lacking)) as twins
from both_sides
group by seed
