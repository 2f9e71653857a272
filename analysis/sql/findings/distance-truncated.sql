-- Of every seed, at the points of the coarser grid: is there less transient memorization, and does the net get to the
-- answer less often, where training points near the test point were redrawn than where they were not?
with
-- include: findings/shared/runs,
placed as (
    select *, round(mu[1], 5) as centre, round(sigma[1], 5) as spread, outcome = 'generalized' as found from runs
),
shared as (
    select * from placed where (centre, spread) in (select (centre, spread) from placed where truncate)
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where truncate) as without_them, avg(swings::integer) filter (where not truncate) as with_them,
        avg(found::integer) filter (where truncate) as found_without, avg(found::integer) filter (where not truncate) as found_with
    from shared group by seed
)
select
    list(with_them order by seed) as with_them, list(without_them order by seed) as without_them,
    list(found_with order by seed) as found_with, list(found_without order by seed) as found_without,
    list(with_them - without_them order by seed) as effect
from by_seed
