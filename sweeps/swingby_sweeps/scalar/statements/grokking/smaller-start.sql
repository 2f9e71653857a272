-- claim: A smaller start removes the delay of generalization
-- source: 6.4, Table 6.1
-- order: 3.3
-- sweeps: claim-scalar-grokking
-- rule: in the mean
-- setting: decay {decay:g}
-- measured: test time over train time {median(exp(log_delay)) filter (where alpha > 1):.3g} from alpha = 4,
--     {median(exp(log_delay)) filter (where alpha < 1):.3g} from alpha = .05 (median seed)
--
-- Of every seed: how much larger is the log of the delay, test time over train time, from alpha = 4 than from .05?
select
    *, max(log_delay) filter (where alpha > 1) over one - max(log_delay) filter (where alpha < 1) over one as effect
from (select *, ln(delay) as log_delay from runs where alpha <> 1)
window one as (partition by preset, seed, decay)
