-- asks: Of every seed: in what share of its runs is there transient memorization, in the lowest and in the highest
--     third of the values along y? Where full-batch twins were recorded: in what share of these, which are the
--     phenomenon without the noise that hides it? Both have to say so. Repaired after results had been seen: runs that
--     diverged are left out, and twins are asked too; before, few swings where many runs diverge, or are too noisy to
--     tell, looked like a property of the nets.
-- found: Transient memorization is more common [large] than [small]: {high:.0%} of the stable runs against {low:.0%}, a
--     difference of {difference:.0%}.{any_value(twins)}
-- contrary: Transient memorization is more common [small] than [large]: [numbers]
-- cannot be told: Whether transient memorization is more common [small] or [large] cannot be told: [numbers]
-- numbers: {low:.0%} of the stable runs against {high:.0%}, a difference of {less:.0%}.{any_value(twins_less)}
--
-- slug ratio-spread-along-y: diagram-ratio-spread
-- small: at spreads up to {any_value(low_to):.2g} mu_1
-- large: at spreads from {any_value(high_from):.2g} mu_1 on
--
-- slug ratio-spread-along-y-relu: diagram-ratio-spread-relu
-- small: at spreads up to {any_value(low_to):.2g} mu_1
-- large: at spreads from {any_value(high_from):.2g} mu_1 on
--
-- slug dimension-width-along-y: diagram-dimension-width
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug dimension-width-along-y-relu: diagram-dimension-width-relu
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug depth-gain-along-y: diagram-depth-gain
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- slug depth-gain-along-y-relu: diagram-depth-gain-relu
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- slug width-gain-along-y: diagram-width-gain
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug width-gain-along-y-relu: diagram-width-gain-relu
-- small: with at most {any_value(low_to):d} units
-- large: with {any_value(high_from):d} units or more
--
-- slug ratio-gain-along-y: diagram-ratio-gain
-- small: from gains up to {any_value(low_to):.2g}
-- large: from gains of {any_value(high_from):.2g} on
--
-- slug ratio-start-along-y: diagram-ratio-start
-- small: from scales up to {any_value(low_to):.2g}
-- large: from scales of {any_value(high_from):.2g} on
--
-- slug rate-depth-along-y: diagram-rate-depth
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
--
-- slug rate-depth-along-y-relu: diagram-rate-depth-relu
-- small: with at most {any_value(low_to):d} layers
-- large: with {any_value(high_from):d} layers or more
select
    seed, (select low_y from thirds) as low_to, (select high_y from thirds) as high_from,
    low, high, high - low as difference, low - high as less,
    high - low as effect, coalesce(twin_high - twin_low, high - low) as effect_2,
    coalesce(
        ' Their full-batch twins: '
        || (select twins_along.high || ' against ' || twins_along.low from twins_along where axis = 'y') || '.',
        (select words from twins_lacking)
    ) as twins,
    coalesce(
        ' Their full-batch twins: '
        || (select twins_along.low || ' against ' || twins_along.high from twins_along where axis = 'y') || '.',
        (select words from twins_lacking)
    ) as twins_less
from sides
where axis = 'y'
