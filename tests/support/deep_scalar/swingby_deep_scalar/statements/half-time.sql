-- claim: The product reaches one half when theory says
-- source: the logistic solution
-- order: 1
-- sweeps: escape-times
-- rule: in most seeds
-- setting: start {start:g}, a = {a:g}
-- measured: half time over theory: {format('{:.3g}', median(value))} (median)
--
-- Of every seed: is the half time within 2 % of log(1/u_0 - 1) / (2 a)?
select
    preset, start, a, seed, half_time / predicted_half_time as value,
    abs(half_time - predicted_half_time) <= 0.02 * predicted_half_time as holds
from runs
