-- sweeps: diagram-concepts-start
-- asks: Of every seed: how often does the loss descend, in the mean of its runs, from small, middle and large starts?
-- found: Starts of a middle scale bring the most descents: [numbers]
-- not found: Starts of a middle scale do not bring the most descents: [numbers]
-- cannot be told: Whether starts of a middle scale bring the most descents cannot be told: [numbers]
-- numbers: {middle:.2f} in the mean for init_high from 0.02 to 0.3, {small:.2f} below and {large:.2f} above.
select
    seed, avg(descents_fine) filter (where init_high < 0.02) as small,
    avg(descents_fine) filter (where init_high between 0.02 and 0.3) as middle,
    avg(descents_fine) filter (where init_high > 0.3) as large,
    middle - small as effect, middle - large as effect_2
from placed
group by seed
