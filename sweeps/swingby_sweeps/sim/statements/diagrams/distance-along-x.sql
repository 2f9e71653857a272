-- order: 3
-- rule: effect over seeds
-- found: Transient memorization is more common from {any_value(high_from):.2g} sigma on than up to
--     {any_value(low_to):.2g} sigma from the nearest centre: {high:.0%} of the runs against {low:.0%}.
-- contrary: Transient memorization is more common up to {any_value(low_to):.2g} sigma from the nearest centre than from
--     {any_value(high_from):.2g} sigma on: {low:.0%} of the runs against {high:.0%}.
-- cannot be told: Whether transient memorization is more common up to {any_value(low_to):.2g} sigma from the nearest
--     centre or from {any_value(high_from):.2g} sigma on cannot be told: {low:.0%} of the runs against {high:.0%}.
--
-- slug: distance-along-x
-- sweeps: diagram-distance
-- fresh: fresh-distance
-- brief: The farther the test point, in units of the spread, the more often
--
-- slug: distance-along-x-relu
-- sweeps: diagram-distance-relu
--
-- slug: distance-along-x-truncated
-- sweeps: diagram-distance-truncated
--
-- slug: distance-along-x-truncated-relu
-- sweeps: diagram-distance-truncated-relu
--
-- Of every seed: in what share of its runs is there transient memorization, where the test point is near the nearest
-- cluster, in units of sigma, and where it is far?
select
    seed, any_value(low_distance) as low_to, any_value(high_distance) as high_from,
    avg(swings::integer) filter (where distance <= low_distance) as low,
    avg(swings::integer) filter (where distance >= high_distance) as high,
    high - low as effect
from placed cross join thirds
group by seed
