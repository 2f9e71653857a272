-- in the mean: Half of the noise is fitted at eta t = n ln 2 / T [1.6.1, noise fitting; the rate T/n is ours]
-- asks: Is the time at which a quarter of the noise's squares is left n ln 2/T within 15 %, for tails below n?
-- sweeps: claim-linear-window
-- within: 0.15
-- setting: {features}, T = {tail:g}
-- measured: time over n ln 2 / T, less 1: {100 * avg(effect):.0f} % (mean)
select *, noise_time / predicted_noise_time - 1 as effect from runs where tail < 100
