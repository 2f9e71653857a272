-- In how many seeds the bound of `told` holds everywhere, and by how much the log of an entry misses it at most.
by_seed as (
    select
        convention, setting, drive, log_P, met, what, seed, bool_and(coalesce(kept, false)) as holds,
        max(beyond) filter (where t > 0) as worst
    from told
    group by all
)
select
    convention, setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format('log of {}: {:.2g} at most (median seed), {:.2g} (worst)', what, median(worst), max(worst)) as measured
from by_seed
group by convention, setting, drive, log_P, met, what
order by convention, drive, log_P, met desc, setting
