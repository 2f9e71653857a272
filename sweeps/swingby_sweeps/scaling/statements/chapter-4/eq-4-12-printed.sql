-- always: As skill k is learned, dL/L is p_k over the sum of p_j from k on, without a minus [eq 4.12, first form, as
--     printed]
-- asks: Of every alpha: is the change dL/L of the loss as one more skill is learned, after 100 to 200 more frequent
--     ones, that of the first form of eq 4.12, within 1 % of alpha/k?
-- sweeps: claim-scaling-skills-in-turn
-- setting: infinitely many skills
-- measured: k dL/L over -alpha: {min(-change_times_k / alpha):.3f} to {max(-change_times_k / alpha):.3f}
-- why: The first form of 4.12 as printed lacks the minus that its next form has: the loss falls.
select * replace (round(1000 * alpha)::bigint as seed),
    abs(change_times_k + predicted_change_times_k) <= 0.01 * alpha as holds
from runs
