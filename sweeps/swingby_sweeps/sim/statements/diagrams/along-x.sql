-- asks: Of every seed: in what share of its runs is there transient memorization, in the lowest and in the highest
--     third of the values along x? Where full-batch twins were recorded: in what share of these, which are the
--     phenomenon without the noise that hides it? Both have to say so. Repaired after results had been seen: runs that
--     diverged are left out, and twins are asked too; before, few swings where many runs diverge, or are too noisy to
--     tell, looked like a property of the nets.
-- found: Transient memorization is more common [large] than [small]: {high:.0%} of the stable runs against {low:.0%}, a
--     difference of {difference:.0%}.{any_value(twins)}
-- contrary: Transient memorization is more common [small] than [large]: [numbers]
-- cannot be told: Whether transient memorization is more common [small] or [large] cannot be told: [numbers]
-- numbers: {low:.0%} of the stable runs against {high:.0%}, a difference of {less:.0%}.{any_value(twins_less)}
--
-- slug dimension-width-along-x: diagram-dimension-width
-- small: in at most {any_value(low_to):d} dimensions
-- large: in {any_value(high_from):d} dimensions or more
--
-- slug dimension-width-along-x-relu: diagram-dimension-width-relu
-- small: in at most {any_value(low_to):d} dimensions
-- large: in {any_value(high_from):d} dimensions or more
--
-- slug ratio-gain-along-x: diagram-ratio-gain
-- small: at signal ratios up to {any_value(low_to):.2f}
-- large: at signal ratios from {any_value(high_from):.2f} on
--
-- slug ratio-start-along-x: diagram-ratio-start
-- small: at signal ratios up to {any_value(low_to):.2f}
-- large: at signal ratios from {any_value(high_from):.2f} on
select
    seed, (select low_x from thirds) as low_to, (select high_x from thirds) as high_from,
    low, high, high - low as difference, low - high as less,
    high - low as effect, coalesce(twin_high - twin_low, high - low) as effect_2,
    coalesce(
        ' Their full-batch twins: '
        || (select twins_along.high || ' against ' || twins_along.low from twins_along where axis = 'x') || '.',
        (select words from twins_lacking)
    ) as twins,
    coalesce(
        ' Their full-batch twins: '
        || (select twins_along.low || ' against ' || twins_along.high from twins_along where axis = 'x') || '.',
        (select words from twins_lacking)
    ) as twins_less
from sides
where axis = 'x'
