-- always: Intensities are these squares over n [Algorithm 1, corrected]
-- asks: Of every sample of 480 points: is the square of the largest singular value over n rho_1 = 1 within 25 %?
-- sweeps: claim-linear-population
-- setting: ten Gaussian features
-- measured: s_1^2/n = {min(largest_rate):.2f} to {max(largest_rate):.2f}, rho_1 = 1
select *, abs(largest_rate - 1) <= 0.25 as holds from runs where n = 480
