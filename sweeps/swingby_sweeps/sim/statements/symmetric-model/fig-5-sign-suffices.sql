-- in most seeds: With two concepts a minor entry that starts positive makes the loss rise [4.2.2]
-- asks: Of every seed of the symmetric model with two concepts whose minor entry w_12 is positive at the start: does
--     the OOD loss have two descents? Seeds that start with a negative one tell nothing.
-- sweeps: figure-5
-- after: Its kind was named when results had been seen: the paper tells what follows from such a start, in certain
--     configurations.
-- why: Where no rise is counted, the minor entry is suppressed before it is as large as where one is.
-- setting: symmetric, {drive}, d = {d}, mu = {mu}
-- measured: rise {median(bump_height):.4f} L_ref (median), {max(bump_height):.4f} (largest); w_12 comes to
--     {coalesce(format('{:.3f}', median(peak) filter (where non_monotone)), 'no seed')} with two descents, to
--     {coalesce(format('{:.3f}', median(peak) filter (where not non_monotone)), 'no seed')} without (medians)
select
    *, list_max(list_transform(jacobian, lambda w: w[2])) as peak, coalesce(non_monotone, false) as holds
from runs
where model = 'symmetric' and s = 2 and jacobian[1][2] > 0
