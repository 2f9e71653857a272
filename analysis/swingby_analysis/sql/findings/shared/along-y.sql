edges as (
    select ys[ceil(len(ys) / 3)::integer] as low_to, ys[len(ys) + 1 - ceil(len(ys) / 3)::integer] as high_from
    from (select list_sort(list(distinct y)) as ys from placed)
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where y <= low_to) as low,
        avg(swings::integer) filter (where y >= high_from) as high
    from placed, edges group by seed
)
select
    (select low_to from edges) as low_to, (select high_from from edges) as high_from,
    list(low order by seed) as low, list(high order by seed) as high, list(high - low order by seed) as effect
from by_seed
