-- sweeps: diagram-memorization-decay
-- asks: Of every seed with 32 training points: how many fewer of the samples are copies after 12,000 steps with weight
--     decay of 1 than without it?
-- found: Weight decay of 1 lowers memorization: [numbers]
-- contrary: Weight decay of 1 raises memorization: [numbers]
-- cannot be told: Whether weight decay of 1 lowers memorization cannot be told: [numbers]
-- numbers: of 32 points {none:.0%} of the samples are copies without decay, {middle:.0%} with 0.1, {most:.0%} with 1.
select
    seed, avg(final_memorized) filter (where weight_decay = 0) as none,
    avg(final_memorized) filter (where weight_decay = 0.1) as middle,
    avg(final_memorized) filter (where weight_decay = 1) as most, none - most as effect
from runs
where points = 32
group by seed
