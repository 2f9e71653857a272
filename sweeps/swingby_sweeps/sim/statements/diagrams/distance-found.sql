-- asks: Of every seed: in what share of its runs does the net get to the answer, where the test point is near the
--     nearest cluster, in units of sigma, and where it is far?
-- found: The net gets to the answer more often where the test point is far from the training points: in {high:.0%} of
--     the runs from {any_value(high_from):.2g} sigma on, in {low:.0%} up to {any_value(low_to):.2g} sigma.
-- contrary: The net gets to the answer less often where the test point is far from the training points: in {high:.0%}
--     of the runs from {any_value(high_from):.2g} sigma on, in {low:.0%} up to {any_value(low_to):.2g} sigma.
-- cannot be told: How far the test point is from the training points makes no difference that can be told to whether
--     the net gets to the answer: {high:.1%} of the runs from {any_value(high_from):.2g} sigma on, {low:.1%} up to
--     {any_value(low_to):.2g} sigma.
--
-- slug distance-found: diagram-distance
-- slug distance-found-relu: diagram-distance-relu
select
    seed, any_value(low_distance) as low_to, any_value(high_distance) as high_from,
    avg(found::integer) filter (where distance <= low_distance) as low,
    avg(found::integer) filter (where distance >= high_distance) as high,
    high - low as effect
from placed cross join thirds
group by seed
