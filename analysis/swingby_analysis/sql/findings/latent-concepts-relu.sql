-- Of every seed: in what share of its runs does a ReLU net that is wide enough get to the answer, and how is that with
-- twice as many units as concepts?
with
-- include: findings/shared/runs,
by_seed as (
    select
        seed, avg((outcome = 'generalized')::integer) as found,
        avg((outcome = 'generalized')::integer) filter (where width >= 2 * s) as found_wide
    from runs where width >= s and s > 1 and model = 'relu' group by seed
)
select
    list(found order by seed) as found, list(found_wide order by seed) as found_wide,
    list(found - 0.5 order by seed) as effect
from by_seed
