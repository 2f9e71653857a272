-- always: Theorem 1 solves the flow, with the exponent that (6.3) and (6.4) give: 2 q t/Z for the loss with its 1/2
--     [Theorem 1, (6.3), (6.4)]
-- asks: Of every seed: is theta of the integrated flow that of (6.12) with exponent 2 q c E t/Z at every recorded step,
--     within a millionth of |S - S_0|, from normal weights and from signs and for targets of both signs?
-- sweeps: claim-scalar-theorem
-- setting: c = {loss_factor:g}, Z = p^{divisor_power:g}
-- measured: largest distance of theta {max(off_theorem):.1e} of |S - S_0|; with the printed exponent
--     {median(off_printed):.2g} (median run)
select *, off_theorem <= 1e-6 as holds from runs
