-- always: Theorem 1 as printed solves the flow of the squared error without its 1/2 [Theorem 1, (6.12)]
-- asks: Of every seed: is theta of the integrated flow of (theta - S)^2 that of (6.12) as printed at every recorded
--     step, within a millionth of |S - S_0|?
-- sweeps: claim-scalar-theorem
-- setting: Z = p^{divisor_power:g}
-- measured: largest distance of theta {max(off_printed):.1e} of |S - S_0|
select *, off_printed <= 1e-6 as holds from runs where loss_factor = 2
