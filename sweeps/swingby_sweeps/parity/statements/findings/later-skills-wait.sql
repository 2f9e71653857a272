-- sweeps: diagram-parity-alpha-skills
-- asks: Of every seed: how far from 1 is t_2 p_2 / (t_1 p_1), on average over the diagram? Points at which the second
--     skill is not learned within the run are left out.
-- fresh fresh-parity-alpha-skills: Skills are not decoupled: the second one waits
-- found: The second skill comes later than its own samples say: [numbers]
-- contrary: The second skill comes sooner than its own samples say: [numbers]
-- cannot be told: Whether the second skill comes later or sooner than its own samples say cannot be told: [numbers]
-- numbers: t_2 p_2 is {delay:.2f} times t_1 p_1, where decoupled skills have 1.
select seed, avg(decoupling) as delay, delay - 1 as effect
from runs
where outcome <> 'diverged'
group by seed
