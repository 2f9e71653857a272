-- always: With two concepts the loss rises only if the minor entry starts positive [4.2.2]
-- asks: Of every seed of the symmetric model with two concepts whose OOD loss has two descents: is the minor entry w_12
--     positive at the start? Seeds with one descent tell nothing; what they start from is told beside it.
-- sweeps: figure-5
-- after: Its kind was named when results had been seen: "only if" allows no exception.
-- setting: symmetric, {drive}, d = {d}, mu = {mu}
-- measured: w_12(0) > 0 in {count(*) filter (where w_12 > 0)} of {count(*)} seeds; of these {count(*) filter (where
--     w_12 > 0 and non_monotone)} have two descents
select *, jacobian[1][2] as w_12, case when non_monotone then coalesce(w_12 > 0, false) end as holds
from runs
where model = 'symmetric' and s = 2
