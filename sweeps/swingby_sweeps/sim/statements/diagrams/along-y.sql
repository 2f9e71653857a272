-- rule: effect over seeds
-- found: Transient memorization is more common [large] than [small]: {high:.0%} of the runs against {low:.0%}.
-- contrary: Transient memorization is more common [small] than [large]: {low:.0%} of the runs against {high:.0%}.
-- cannot be told: Whether transient memorization is more common [small] or [large] cannot be told: {low:.0%} of the
--     runs against {high:.0%}.
--
-- slug: ratio-spread-along-y
-- order: 4
-- sweeps: diagram-ratio-spread
-- small: at spreads up to {any_value(low_to):.2g} mu_1
-- large: at spreads from {any_value(high_from):.2g} mu_1 on
--
-- slug: ratio-spread-along-y-relu
-- order: 4
-- sweeps: diagram-ratio-spread-relu
-- small: at spreads up to {any_value(low_to):.2g} mu_1
-- large: at spreads from {any_value(high_from):.2g} mu_1 on
--
-- slug: dimension-width-along-y
-- order: 4
-- sweeps: diagram-dimension-width
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug: dimension-width-along-y-relu
-- order: 4
-- sweeps: diagram-dimension-width-relu
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug: depth-gain-along-y
-- order: 4
-- sweeps: diagram-depth-gain
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- slug: depth-gain-along-y-relu
-- order: 3
-- sweeps: diagram-depth-gain-relu
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- slug: width-gain-along-y
-- order: 4
-- sweeps: diagram-width-gain
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug: width-gain-along-y-relu
-- order: 3
-- sweeps: diagram-width-gain-relu
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug: ratio-gain-along-y
-- order: 6
-- sweeps: diagram-ratio-gain
-- small: from gains up to {any_value(low_to):.2g}
-- large: from gains of {any_value(high_from):.2g} on
--
-- slug: ratio-start-along-y
-- order: 6
-- sweeps: diagram-ratio-start
-- small: from scales up to {any_value(low_to):.2g}
-- large: from scales of {any_value(high_from):.2g} on
--
-- slug: rate-depth-along-y
-- order: 5
-- sweeps: diagram-rate-depth
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- slug: rate-depth-along-y-relu
-- order: 5
-- sweeps: diagram-rate-depth-relu
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- Of every seed: in what share of its runs is there transient memorization, in the lowest and in the highest third of
-- the values along y?
with edges as (
    select ys[ceil(len(ys) / 3)::integer] as low_to, ys[len(ys) + 1 - ceil(len(ys) / 3)::integer] as high_from
    from (select list_sort(list(distinct y)) as ys from placed)
)
select
    seed, any_value(low_to) as low_to, any_value(high_from) as high_from,
    avg(swings::integer) filter (where y <= low_to) as low,
    avg(swings::integer) filter (where y >= high_from) as high,
    high - low as effect
from placed, edges
group by seed
