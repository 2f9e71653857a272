-- always: Learnability is rho/(rho + kappa) for kernels on images [eq 1.35, for kernel regression]
-- asks: Of every seed, three hundred samples of 50 images of digits: is mean L_k(D) that of eq 1.35 within .03 for
--     every mode that is listed?
-- sweeps: claim-linear-kernel-learnability
-- least: 6
-- setting: {kernel}
-- measured: gap {min(gap):.3f} to {max(gap):.3f}, standard error {max(gap_error):.3f}
select *, gap <= 0.03 as holds from runs
