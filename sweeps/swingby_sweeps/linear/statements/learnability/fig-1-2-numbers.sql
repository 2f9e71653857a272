-- in the mean: On four points learnabilities are already those of eq 1.35 [eq 1.35, Fig 1.2]
-- asks: Is the mean of L_k(D) over sets of four points that of eq 1.35 within .05, for the four modes of largest
--     intensity?
-- sweeps: figure-1-2
-- within: 0.05
-- setting: alpha = {alpha:g}, mode {k}
-- measured: {avg(measured):.3f}; theory says {any_value(predicted):.3f}
-- why: The four points are few: eq 1.35 is for many, and sines of one x are not independent.
select *, measured - predicted as effect
from listed
where if(alpha > 0, k, 11 - k) <= 4
