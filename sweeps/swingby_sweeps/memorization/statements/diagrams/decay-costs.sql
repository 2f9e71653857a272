-- sweeps: diagram-memorization-decay
-- asks: Of every seed with 32 training points: how much larger is the least energy distance of the run with weight decay
--     of 1 than without it?
-- found: Weight decay of 1 costs quality: [numbers]
-- contrary: Weight decay of 1 improves samples: [numbers]
-- cannot be told: Whether weight decay of 1 changes how good samples become cannot be told: [numbers]
-- numbers: of 32 points the energy distance comes down to {none:.4f} without decay, {most:.4f} with 1.
select
    seed, avg(best_energy_distance) filter (where weight_decay = 0) as none,
    avg(best_energy_distance) filter (where weight_decay = 1) as most, most - none as effect
from runs
where points = 32
group by seed
