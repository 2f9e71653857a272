-- sweeps: diagram-parity-alpha-skills
-- asks: Of every seed: the mean of t_2 p_2 / (t_1 p_1) where alpha is below 1.15 and where it is above.
-- found: The more equal the frequencies, the longer the second skill waits: [numbers]
-- contrary: The more equal the frequencies, the shorter the second skill waits: t_2 p_2 / (t_1 p_1) is {flat:.2f} in
--     the half of the diagram with small exponents and {steep:.2f} in the other, a difference of {less:.2f}.
-- cannot be told: Whether the second skill waits longer where frequencies are more equal cannot be told: [numbers]
-- numbers: t_2 p_2 / (t_1 p_1) is {flat:.2f} in the half of the diagram with small exponents and {steep:.2f} in the
--     other, a difference of {difference:.2f}.
select
    seed, avg(decoupling) filter (where alpha < 1.15) as flat, avg(decoupling) filter (where alpha > 1.15) as steep,
    flat - steep as difference, steep - flat as less, flat - steep as effect
from runs
where outcome <> 'diverged'
group by seed
