-- in the mean: A wider net memorizes sooner [B, on U-Nets of several widths]
-- asks: Of every seed: how fast does ln tau_mem fall with the log of the width, at the sizes of which every seed of every
--     width memorizes within the run?
-- sweeps: claim-memorization-copies
-- setting: {points} training points
-- measured: tau_mem goes as the width to the power {-avg(effect):.2f}
with sizes as (
    select *, bool_and(tau_mem is not null) over (partition by preset, points) as every_seed from runs
)
select preset, points, seed, -regr_slope(ln(tau_mem), ln(width)) as effect
from sizes
where every_seed
group by preset, points, seed
having count(*) >= 3
