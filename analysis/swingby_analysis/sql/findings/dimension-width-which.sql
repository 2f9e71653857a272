-- Of every seed: by how much does the share fall from small to large widths, and by how much from low to high dimension?
-- Which of the two is more?
with
-- include: findings/shared/runs,
by_seed as (
    select
        seed,
        avg(swings::integer) filter (where width <= 5) - avg(swings::integer) filter (where width > 16) as by_width,
        avg(swings::integer) filter (where d <= 5) - avg(swings::integer) filter (where d > 16) as by_dimension
    from runs group by seed
)
select
    list(by_width order by seed) as by_width, list(by_dimension order by seed) as by_dimension,
    list(by_width - by_dimension order by seed) as effect
from by_seed
