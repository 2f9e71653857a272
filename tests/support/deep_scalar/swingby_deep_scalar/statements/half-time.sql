-- in most seeds: The product reaches one half when theory says [the logistic solution]
-- asks: Of every seed: is the half time within 2 % of log(1/u_0 - 1) / (2 a)?
-- sweeps: escape-times
-- setting: start {start:g}, a = {a:g}
-- measured: half time over theory: {format('{:.3g}', median(value))} (median)
select
    preset, start, a, seed, half_time / predicted_half_time as value,
    abs(half_time - predicted_half_time) <= 0.02 * predicted_half_time as holds
from runs
