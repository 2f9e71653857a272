by_seed as (
    select
        seed,
        avg((outcome = 'generalized')::integer) as found,
        avg((outcome in ('plateau', 'failed'))::integer) as stuck,
        avg((outcome = 'diverged')::integer) as diverged
    from placed group by seed
)
select
    (select count(*) from placed) as runs,
    list(found order by seed) as found, list(stuck order by seed) as stuck, list(diverged order by seed) as diverged,
    list(found - 0.5 order by seed) as effect
from by_seed
