-- sweeps: diagram-memorization-wide
-- asks: Of every seed: how much larger is the slope of ln tau_mem over ln n at width 64 than at width 128? Where tau_mem is
--     not within the run, it counts as the last step, so that the slope at width 64 is rather too small.
-- found: The time to memorization grows nearer to in proportion to the training points in a wider net: [numbers]
-- contrary: The time to memorization does not grow nearer to in proportion to the training points in a wider net, but
--     faster: [numbers]
-- cannot be told: Whether the time to memorization grows nearer to in proportion to the training points in a wider net
--     cannot be told: [numbers]
-- after: Written when the runs at width 64 had been seen, and before any at width 128 was trained.
-- numbers: from 8 to 32 points it grows as n^{narrow:.2f} at width 64, and as n^{wide:.2f} at width 128.
with slopes as (
    select seed, width, regr_slope(ln(coalesce(tau_mem, training_steps)), ln(points)) as b
    from runs
    group by seed, width
)
select
    seed, any_value(b) filter (where width = 64) as narrow, any_value(b) filter (where width = 128) as wide,
    narrow - wide as effect
from slopes
group by seed
