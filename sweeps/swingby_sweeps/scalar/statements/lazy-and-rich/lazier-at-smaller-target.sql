-- always: Training is lazier at a smaller target [6.2.2, 6.3]
-- asks: Of every seed, from an output of 0: does the kernel change less at each of the seven targets than at the next
--     larger one, and is it lazy (by less than a factor of 1.1) at the smallest and rich (by more than 2) at the
--     largest?
-- sweeps: claim-scalar-downscaling
-- setting: Z = 1, p = {width}, seven decades of S
-- measured: the kernel grows by a factor of {median(kernel_ratio) filter (where target >= 1000):.3g} at S = 1000, of 1
--     + {median(kernel_ratio - 1) filter (where target <= 0.001):.1e} at S = .001 (median seed)
select
    *,
    change <= coalesce(lead(change) over larger, change)
    and (target > 0.001 or regime = 'lazy') and (target < 1000 or regime = 'rich') as holds
from wide_runs
window larger as (partition by preset, seed order by target)
