edges as (
    select xs[ceil(len(xs) / 3)::integer] as low_to, xs[len(xs) + 1 - ceil(len(xs) / 3)::integer] as high_from
    from (select list_sort(list(distinct x)) as xs from placed)
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where x <= low_to) as low,
        avg(swings::integer) filter (where x > low_to and x < high_from) as middle,
        avg(swings::integer) filter (where x >= high_from) as high
    from placed, edges group by seed
)
select
    (select low_to from edges) as low_to, (select high_from from edges) as high_from,
    list(low order by seed) as low, list(middle order by seed) as middle, list(high order by seed) as high,
    list(middle - low order by seed) as effect, list(middle - high order by seed) as effect_2
from by_seed
