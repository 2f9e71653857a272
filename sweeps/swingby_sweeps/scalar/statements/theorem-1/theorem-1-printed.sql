-- always: Theorem 1 as printed, with the exponent 4 q t/Z, solves the flow of (6.2) to (6.4) [Theorem 1, (6.12)]
-- asks: Of every seed: is theta of the integrated flow that of (6.12) as printed at every recorded step, within a
--     millionth of |S - S_0|? The loss is (theta - S)^2/2, as in (6.2) to (6.4).
-- sweeps: claim-scalar-theorem
-- setting: Z = p^{divisor_power:g}
-- measured: largest distance of theta {max(off_printed):.2g} of |S - S_0|, {median(off_printed):.2g} (median run)
-- why: The exponent is that of the loss without its 1/2. (6.3) has theta settle at the rate 2 q/Z, not 4 q/Z.
select *, off_printed <= 1e-6 as holds from runs where loss_factor = 1
