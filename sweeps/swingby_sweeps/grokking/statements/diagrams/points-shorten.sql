-- sweeps: diagram-weight-points
-- asks: Of every seed, over runs from weights of three times the usual size and more that generalise: what is the mean
--     of the log of the delay with 64 training points, and with 256 and 512?
-- found: More training points shorten the delay of large weights: [numbers]
-- contrary: More training points lengthen the delay of large weights: [numbers]
-- cannot be told: Whether more training points shorten the delay of large weights cannot be told: [numbers]
-- numbers: {few:.1f} with 64 points, {many:.1f} with 256 and more (geometric means of the runs that generalise).
select
    seed, exp(avg(ln(delay)) filter (where points = 64)) as few,
    exp(avg(ln(delay)) filter (where points >= 256)) as many, ln(few / many) as effect
from runs
where weight_scale >= 3
group by seed
