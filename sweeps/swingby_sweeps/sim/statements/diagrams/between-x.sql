-- rule: effect over seeds
-- found: Transient memorization belongs to a middle [axis]: it is most common between [lower] and [upper], {middle:.0%}
--     of the runs there, {low:.0%} below and {high:.0%} above.
-- not found: Transient memorization does not belong to a middle [axis]: between [lower] and [upper] it is not the most
--     common, {middle:.0%} of the runs there, {low:.0%} below and {high:.0%} above.
-- cannot be told: Whether transient memorization belongs to a middle [axis], between [lower] and [upper], cannot be
--     told: {middle:.0%} of the runs there, {low:.0%} below and {high:.0%} above.
--
-- slug: ratio-spread-along-x
-- order: 3
-- sweeps: diagram-ratio-spread
-- axis: signal ratio mu_2 / mu_1
-- lower: {any_value(low_to):.2f}
-- upper: {any_value(high_from):.2f}
--
-- slug: ratio-spread-along-x-relu
-- order: 3
-- sweeps: diagram-ratio-spread-relu
-- axis: signal ratio mu_2 / mu_1
-- lower: {any_value(low_to):.2f}
-- upper: {any_value(high_from):.2f}
--
-- slug: depth-gain-along-x
-- order: 5
-- sweeps: diagram-depth-gain
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- slug: depth-gain-along-x-relu
-- order: 4
-- sweeps: diagram-depth-gain-relu
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- slug: width-gain-along-x
-- order: 5
-- sweeps: diagram-width-gain
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- slug: width-gain-along-x-relu
-- order: 4
-- sweeps: diagram-width-gain-relu
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- Of every seed: in what share of its runs is there transient memorization, in the lowest, the middle and the highest
-- third of the values along x?
select
    seed, any_value(low_x) as low_to, any_value(high_x) as high_from,
    avg(swings::integer) filter (where x <= low_x) as low,
    avg(swings::integer) filter (where x > low_x and x < high_x) as middle,
    avg(swings::integer) filter (where x >= high_x) as high,
    middle - low as effect, middle - high as effect_2
from placed cross join thirds
group by seed
