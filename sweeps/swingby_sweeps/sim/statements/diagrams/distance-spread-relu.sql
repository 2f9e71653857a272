-- sweeps: diagram-distance-relu
-- asks: Of every seed: how much more often does the net get to the answer at the largest third of the spreads than at
--     the smallest, and, at one spread, where the clusters are far out (mu_1 above 1) than where they are near? Which
--     is more? Added after results had been seen.
-- found: But it is the spread that counts for that, and not the distance in units of it: [numbers]
-- not found: For that the spread does not count more than how far out the clusters are: [numbers]
-- cannot be told: Whether the spread counts more for that than how far out the clusters are cannot be told: [numbers]
-- numbers: from the smallest third of the spreads (up to {any_value(low_to):.2g}) to the largest (from
--     {any_value(high_from):.2g} on) the share that gets to the answer goes from {small:.0%} to {large:.0%}; over the
--     same spreads it is {near_by:.0%} with mu_1 below 1 and {far_out:.0%} above.
select
    seed, any_value(low_spread) as low_to, any_value(high_spread) as high_from,
    avg(found::integer) filter (where spread <= low_spread) as small,
    avg(found::integer) filter (where spread >= high_spread) as large,
    avg(found::integer) filter (where mu[1] < 1) as near_by, avg(found::integer) filter (where mu[1] > 1) as far_out,
    large - small - abs(far_out - near_by) as effect
from placed cross join thirds
where mu[1] <> 1
group by seed
