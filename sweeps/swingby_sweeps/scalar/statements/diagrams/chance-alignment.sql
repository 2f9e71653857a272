-- sweeps: diagram-scalar-start
-- asks: Of every seed: among runs whose target is small beside their start, which share is not lazy, at ten pairs and
--     at a thousand? The kernel ends at sqrt(1 - s0^2) of its start, and s0 = S_0/Sigma_0 is about 1/sqrt(p).
-- fresh fresh-scalar-start: In narrow nets chance alone ends the lazy regime
-- found: A small target does not make a narrow net lazy: with S/Sigma_0 below .05, {narrow:.0%} of the runs with ten
--     pairs change their kernel by more than a tenth, since their weights are aligned by chance; of those with a
--     hundred, {middle:.0%}, with a thousand {wide:.0%}.
-- not found: A small target makes a narrow net lazy, too: [numbers]
-- cannot be told: Whether a small target makes a narrow net lazy cannot be told: [numbers]
-- numbers: with S/Sigma_0 below .05, {narrow:.0%} of the runs with ten pairs change their kernel by more than a tenth;
--     of those with a hundred {middle:.0%}, with a thousand {wide:.0%}.
select
    seed,
    avg((not lazy)::integer) filter (where width = 10) as narrow,
    avg((not lazy)::integer) filter (where width = 100) as middle,
    avg((not lazy)::integer) filter (where width = 1000) as wide,
    narrow - wide - 0.05 as effect
from wide_runs
where target_ratio < 0.05
group by seed
