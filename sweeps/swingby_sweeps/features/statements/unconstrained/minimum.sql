-- always: The singular values of W H end at sqrt(m_c) - N sqrt(l_W l_H), else at 0 [our derivation for 3.5.2 with
--     decay]
-- asks: Of every seed: is every singular value within .01 sqrt(m) of the global minimum's?
-- sweeps: claim-unconstrained-minimum
-- setting: l_W = {decay_w:g}, l_H = {decay_h:g}, imbalance {imbalance:g}
-- measured: at most {max(off_end):.1e} sqrt(m) off, {median(rank):.0f} of 4 modes alive
select *, off_end < 0.01 as holds from runs
