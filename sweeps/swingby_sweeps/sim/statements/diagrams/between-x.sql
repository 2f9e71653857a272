-- asks: Of every seed: in what share of its runs is there transient memorization, in the lowest, the middle and the
--     highest third of the values along x? Where full-batch twins were recorded: in what share of these, which are the
--     phenomenon without the noise that hides it? Both have to say so. Repaired after results had been seen: runs that
--     diverged are left out, and twins are asked too.
-- found: Transient memorization belongs to a middle [axis]: it is most common between [lower] and [upper], [numbers]
-- not found: Transient memorization does not belong to a middle [axis]: between [lower] and [upper] it is not the most
--     common, [numbers]
-- cannot be told: Whether transient memorization belongs to a middle [axis], between [lower] and [upper], cannot be
--     told: [numbers]
-- numbers: {middle:.0%} of the stable runs there, {low:.0%} below and {high:.0%} above; the difference is {below:.0%}
--     and {above:.0%}.{any_value(twins)}
--
-- slug ratio-spread-along-x: diagram-ratio-spread
-- axis: signal ratio mu_2 / mu_1
-- lower: {any_value(low_to):.2f}
-- upper: {any_value(high_from):.2f}
--
-- slug ratio-spread-along-x-relu: diagram-ratio-spread-relu
-- axis: signal ratio mu_2 / mu_1
-- lower: {any_value(low_to):.2f}
-- upper: {any_value(high_from):.2f}
--
-- slug depth-gain-along-x: diagram-depth-gain
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- slug depth-gain-along-x-relu: diagram-depth-gain-relu
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- slug width-gain-along-x: diagram-width-gain
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
--
-- slug width-gain-along-x-relu: diagram-width-gain-relu
-- axis: gain
-- lower: {any_value(low_to):.2g}
-- upper: {any_value(high_from):.2g}
select
    seed, (select low_x from thirds) as low_to, (select high_x from thirds) as high_from,
    low, middle, high, middle - low as below, middle - high as above,
    middle - low as effect, middle - high as effect_2,
    coalesce(twin_middle - twin_low, middle - low) as effect_3,
    coalesce(twin_middle - twin_high, middle - high) as effect_4,
    coalesce(
        ' Their full-batch twins: ' || (
            select twins_along.middle || ' there, ' || twins_along.low || ' below and ' || twins_along.high || ' above'
            from twins_along
            where axis = 'x'
        ) || '.',
        (select words from twins_lacking)
    ) as twins
from sides
where axis = 'x'
