-- At one distance of the test point in units of sigma (in bins of a factor of 1.4): does it matter how far out the
-- clusters are themselves?
with
-- include: findings/shared/runs,
placed as (select *, round(2 * log2(mu[1] / sigma[1])) as distance, mu[1] > 1 as far from runs where mu[1] <> 1),
bins as (
    select seed, distance, avg(swings::integer) filter (where far) as far_out, avg(swings::integer) filter (where not far) as near_by
    from placed group by seed, distance
),
by_seed as (
    select seed, avg(far_out - near_by) as difference, avg(near_by) as near_by, avg(far_out) as far_out
    from bins where far_out is not null and near_by is not null group by seed
)
select
    list(near_by order by seed) as near_by, list(far_out order by seed) as far_out,
    list(difference order by seed) as difference, list(difference order by seed) as effect
from by_seed
