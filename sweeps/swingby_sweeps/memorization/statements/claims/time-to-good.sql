-- in the mean: The time to good samples does not depend on the number of training points [B, abstract]
-- asks: Of every seed: what is the slope of ln tau_gen over ln n, from 32 points on, over the sizes at which its samples
--     are ever good (three or more)? With fewer points they seldom are.
-- sweeps: claim-memorization-good
-- within: 0.2
-- setting: width {width}
-- measured: tau_gen grows as n^{avg(effect):.2f} from 32 to {max(most)} points
select
    preset, width, seed, max(points) as most, regr_slope(ln(tau_gen), ln(points)) as effect
from runs
where points >= 32 and tau_gen is not null
group by preset, width, seed
having count(*) >= 3
