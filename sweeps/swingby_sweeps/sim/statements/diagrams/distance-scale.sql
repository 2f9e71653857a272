-- order: 4
-- rule: effect over seeds
-- found: At one distance in units of sigma it matters how far out the clusters are themselves: farther out, transient
--     memorization is more common, {far_out:.0%} of the runs against {near_by:.0%}.
-- contrary: At one distance in units of sigma it matters how far out the clusters are themselves: farther out,
--     transient memorization is rarer, {far_out:.0%} of the runs against {near_by:.0%}.
-- cannot be told: At one distance in units of sigma no difference can be told by how far out the clusters are
--     themselves: {near_by:.1%} of the runs where mu_1 is below 1, {far_out:.1%} where it is above.
--
-- slug: distance-scale
-- sweeps: diagram-distance
--
-- slug: distance-scale-relu
-- sweeps: diagram-distance-relu
--
-- At one distance of the test point in units of sigma (in bins of a factor of 1.4): does it matter how far out the
-- clusters are themselves?
with bins as (
    select
        seed, round(2 * log2(distance)) as bin, avg(swings::integer) filter (where mu[1] > 1) as far_out,
        avg(swings::integer) filter (where mu[1] < 1) as near_by
    from placed
    group by seed, bin
)
select seed, avg(far_out - near_by) as effect, avg(near_by) as near_by, avg(far_out) as far_out
from bins
where far_out is not null and near_by is not null
group by seed
