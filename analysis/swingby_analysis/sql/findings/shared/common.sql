by_point as (
    select point, count(*) as n, count(*) filter (where swings) as k from placed group by point
),
-- Repaired after results had been seen: one point was enough, where one in forty is above by chance if all are at a half.
judged as (  -- the lower end of Wilson's 95 % interval of each point's share
    select
        *,
        (k / n + 1.96 ** 2 / (2 * n) - 1.96 * sqrt(k * (n - k) / n ** 3 + 1.96 ** 2 / (4 * n ** 2)))
        / (1 + 1.96 ** 2 / n) as low
    from by_point
),
by_seed as (
    select seed, avg(swings::integer) as share, median(bump_height) filter (where swings) as height
    from placed group by seed
)
select
    (select count(*) filter (where low > 0.5) > count(*) / 40 from judged) as holds,
    (select count(*) from judged where low > 0.5) as ruled, (select count(*) from judged) as points,
    (select max(k / n) from judged) as most, (select arg_max(n, k / n) from judged) as n,
    (select count(*) from placed) as runs,
    list(share order by seed) as share, list(height order by seed) filter (where height is not null) as height
from by_seed
