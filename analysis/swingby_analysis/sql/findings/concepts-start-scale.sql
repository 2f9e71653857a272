-- Of every seed: how often does the loss descend, in the mean of its runs, from small, middle and large starts?
with
-- include: findings/shared/runs,
by_seed as (
    select
        seed, avg(descents_fine) filter (where init_high < 0.02) as small,
        avg(descents_fine) filter (where init_high between 0.02 and 0.3) as middle,
        avg(descents_fine) filter (where init_high > 0.3) as large
    from runs group by seed
)
select
    list(small order by seed) as small, list(middle order by seed) as middle, list(large order by seed) as large,
    list(middle - small order by seed) as effect, list(middle - large order by seed) as effect_2
from by_seed
