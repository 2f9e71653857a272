-- in the mean: A smaller start removes the delay of generalization [6.4, Table 6.1]
-- asks: Of every seed: how much larger is the log of the delay, test time over train time, from alpha = 4 than from
--     .05?
-- sweeps: claim-scalar-grokking
-- setting: decay {decay:g}
-- measured: test time over train time {median(exp(log_delay)) filter (where alpha > 1):.3g} from alpha = 4,
--     {median(exp(log_delay)) filter (where alpha < 1):.3g} from alpha = .05 (median seed)
select
    *, max(log_delay) filter (where alpha > 1) over one - max(log_delay) filter (where alpha < 1) over one as effect
from (select *, ln(delay) as log_delay from runs where alpha <> 1)
window one as (partition by preset, seed, decay)
