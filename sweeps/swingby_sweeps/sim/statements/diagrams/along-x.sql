-- rule: effect over seeds
-- found: Transient memorization is more common [large] than [small]: {high:.0%} of the runs against {low:.0%}.
-- contrary: Transient memorization is more common [small] than [large]: {low:.0%} of the runs against {high:.0%}.
-- cannot be told: Whether transient memorization is more common [small] or [large] cannot be told: {low:.0%} of the
--     runs against {high:.0%}.
--
-- slug: dimension-width-along-x
-- order: 3
-- sweeps: diagram-dimension-width
-- small: in at most {any_value(low_to):d} dimensions
-- large: in {any_value(high_from):d} dimensions or more
--
-- slug: dimension-width-along-x-relu
-- order: 3
-- sweeps: diagram-dimension-width-relu
-- small: in at most {any_value(low_to):d} dimensions
-- large: in {any_value(high_from):d} dimensions or more
--
-- slug: ratio-gain-along-x
-- order: 5
-- sweeps: diagram-ratio-gain
-- small: at signal ratios up to {any_value(low_to):.2f}
-- large: at signal ratios from {any_value(high_from):.2f} on
--
-- slug: ratio-start-along-x
-- order: 5
-- sweeps: diagram-ratio-start
-- small: at signal ratios up to {any_value(low_to):.2f}
-- large: at signal ratios from {any_value(high_from):.2f} on
--
-- slug: rate-depth-along-x
-- order: 4
-- sweeps: diagram-rate-depth
-- small: at rates up to {any_value(low_to):.2g}
-- large: at rates from {any_value(high_from):.2g} on
--
-- slug: rate-depth-along-x-relu
-- order: 4
-- sweeps: diagram-rate-depth-relu
-- small: at rates up to {any_value(low_to):.2g}
-- large: at rates from {any_value(high_from):.2g} on
--
-- Of every seed: in what share of its runs is there transient memorization, in the lowest and in the highest third of
-- the values along x?
select
    seed, any_value(low_x) as low_to, any_value(high_x) as high_from,
    avg(swings::integer) filter (where x <= low_x) as low,
    avg(swings::integer) filter (where x >= high_x) as high,
    high - low as effect
from placed cross join thirds
group by seed
