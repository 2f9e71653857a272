-- always: As skill k is learned, dL/L is -alpha/k to leading order [eqs 4.12 (second form), 4.13]
-- asks: Of every alpha: is the change dL/L of the loss as one more skill is learned, after 100 to 200 more frequent
--     ones, that of eq 4.12 with a minus within 1 % of alpha/k, and -alpha/k within 2 %?
-- sweeps: claim-scaling-skills-in-turn
-- setting: infinitely many skills
-- measured: k dL/L over -alpha: {min(-change_times_k / alpha):.3f} to {max(-change_times_k / alpha):.3f}
select * replace (round(1000 * alpha)::bigint as seed),
    abs(change_times_k - predicted_change_times_k) <= 0.01 * alpha and abs(change_times_k + alpha) <= 0.02 * alpha
        as holds
from runs
