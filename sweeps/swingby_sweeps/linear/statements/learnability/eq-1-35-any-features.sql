-- always: Learnability is rho/(rho + kappa) for any orthonormal features [eq 1.35, which is stated without conditions]
-- asks: Of every seed, a thousand samples of 32 points: is mean L_k(D) that of eq 1.35 within .02 for every mode that
--     is listed, for functions of one variable?
-- sweeps: claim-linear-learnability
-- least: 6
-- setting: {features}, alpha = {alpha:g}
-- measured: gap {min(gap):.3f} to {max(gap):.3f}, standard error {max(gap_error):.3f}
-- why: Functions of one x are uncorrelated and not independent: a sine of n points is all but fixed by others of lower
--     frequency. The references that [T] cites assume Gaussian features.
select *, theory_fits as holds from runs where features not in ('gaussian', 'rademacher')
