-- in most seeds: Minor entries start much smaller than major ones, the more so the wider U [App. E, eq E.1]
-- asks: Of every seed: is the minor entry of W(0) smaller in size than a tenth of the major one, |w_12(0)| < 0.1
--     w_11(0)? E.1 says that they part as d' grows. Rows by d'.
-- sweeps: claim-initial-weights
-- after: Its kind was named when results had been seen: the paper says of the entries at one width what the mean of
--     both makes likely.
-- why: Beside the major entry the minor one falls slowly with the width, about as its root.
-- setting: U normal, d' = {width}, tau = {tau:.3g}
-- measured: |w_12| / w_11 = {median(abs(w_12) / w_11):.3f} (median seed)
select *, abs(w_12) < 0.1 * w_11 as holds from normal_starts
