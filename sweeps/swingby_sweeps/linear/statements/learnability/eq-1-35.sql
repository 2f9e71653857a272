-- always: Learnability is rho/(rho + kappa) where features are independent [eq 1.35]
-- asks: Of every seed, a thousand samples of 32 points: is mean L_k(D) that of eq 1.35 within .02 for every mode that
--     is listed? Null where it is off by more, and by less than three standard errors more.
-- sweeps: claim-linear-learnability
-- least: 6
-- setting: {features}, alpha = {alpha:g}
-- measured: gap {min(gap):.3f} to {max(gap):.3f}, standard error {max(gap_error):.3f}
select *, theory_fits as holds from runs where features in ('gaussian', 'rademacher')
