-- in the mean: Equal Gaussian features have a noise energy of n/(p - n - 1) [Fig 1.4, which has no number; exact]
-- asks: Is V in the mean over samples n/(p - n - 1), within 5 %? Of each sample the mean over the noise is taken.
-- sweeps: figure-1-4
-- within: 0.05
-- setting: p = {p}
-- measured: mean V over n/(p - n - 1), less 1: {100 * avg(effect):.1f} %
select *, mean_noise_gain / exact_noise_gain - 1 as effect from runs where exact_noise_gain is not null
