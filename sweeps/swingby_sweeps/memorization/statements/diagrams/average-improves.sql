-- sweeps: diagram-memorization-average
-- asks: Of every seed with 32 training points: how much smaller is the least energy distance of the running mean over 1,000
--     steps than that of the net?
-- found: Samples of a running mean over 1,000 steps become better than those of the net: [numbers]
-- contrary: Samples of a running mean over 1,000 steps become worse than those of the net: [numbers]
-- cannot be told: Whether samples of a running mean over 1,000 steps become better than those of the net cannot be told:
--     [numbers]
-- numbers: of 32 points the energy distance comes down to {net:.4f} for the net, {averaged:.4f} for the mean.
select
    seed, avg(best_energy_distance) filter (where average = 0) as net,
    avg(best_energy_distance) filter (where average = 0.999) as averaged, net - averaged as effect
from runs
where points = 32
group by seed
