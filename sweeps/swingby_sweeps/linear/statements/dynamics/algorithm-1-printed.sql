-- always: Intensities are the squares of the singular values of the features' matrix [Algorithm 1, as printed]
-- asks: Of every sample of 480 points: is the square of the largest singular value rho_1 = 1 within 25 %?
-- sweeps: claim-linear-population
-- setting: ten Gaussian features
-- measured: s_1^2 = {median(largest_rate * n):.0f} (median), rho_1 = 1
-- why: They are s^2/n, and eigenfunctions sqrt(n) u^T Phi/s: a singular value grows with the sample.
select *, abs(largest_rate * n - 1) <= 0.25 as holds from runs where n = 480
