-- always: From a small balanced start every mode is learned [A.2.3, (A.31)]
-- asks: Of every seed from W_1^T W_1 = W_2 W_2^T: are all three modes half learned at the end?
-- sweeps: claim-layerwise-balanced
-- setting: {drive}, d = {d}, p = {width}, c = {c}
-- measured: {count(*) filter (where fate = 'learned')} of {count(*)} learn all, {count(*) filter (where fate =
--     'stalled')} stall
-- why: The flow of a balanced net conserves the rank of W_1 W_2. Where d = c <= p that keeps the sign of its
--     determinant, which is not that of the target in half of the seeds: the last mode is then never learned.
select *, fate = 'learned' as holds from runs
