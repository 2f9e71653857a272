-- sweeps: diagram-weight-decay
-- asks: Of every seed, over runs from weights of three times the usual size and more that generalise: what is the slope
--     of the log of the test epoch against the log of L2, at equal weights (mean over the weights with three L2 or
--     more)? Adam divides a gradient by its size, so that weights under L2 alone would move at the learning rate,
--     whatever L2 is: exponent 0.
-- fresh fresh-weight-decay: Adam waits less than in proportion to 1/L2
-- found: Less weight decay makes the wait longer, though less than in proportion: from large weights the epoch at which
--     the test accuracy arrives goes as L2 to the power {exponent:.2f}, where decay of the weights at the rate L2 would
--     give -1.
-- not found: The wait does not lie between one that is independent of weight decay and one in proportion to 1/L2: from
--     large weights the epoch at which the test accuracy arrives goes as L2 to the power {exponent:.2f}.
-- cannot be told: Whether the wait grows less than in proportion to 1/L2 cannot be told: from large weights the epoch
--     at which the test accuracy arrives goes as L2 to the power {exponent:.2f}.
with slopes as (
    select seed, weight_scale, regr_slope(ln(test_epoch), ln(l2)) as slope
    from runs
    where weight_scale >= 3 and delay is not null
    group by seed, weight_scale
    having count(*) >= 3
)
select seed, avg(slope) as exponent, -exponent as effect, 1 + exponent as effect_2 from slopes group by seed
