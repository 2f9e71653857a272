-- sweeps: diagram-dimension-width
-- asks: Of every seed: by how much does the share fall from small to large widths, and by how much from low to high
--     dimension? Which of the two is more?
-- found: The width matters more than the dimension: from at most 5 to more than 16 units the share falls by
--     {by_width:.3f}, from at most 5 to more than 16 dimensions by {by_dimension:.3f}.
-- not found: The dimension matters more than the width: from at most 5 to more than 16 dimensions the share falls by
--     {by_dimension:.3f}, from at most 5 to more than 16 units by {by_width:.3f}.
-- cannot be told: Whether the dimension or the width matters more cannot be told: the share falls by {by_dimension:.3f}
--     from at most 5 to more than 16 dimensions, by {by_width:.3f} from at most 5 to more than 16 units.
select
    seed,
    avg(swings::integer) filter (where width <= 5) - avg(swings::integer) filter (where width > 16) as by_width,
    avg(swings::integer) filter (where d <= 5) - avg(swings::integer) filter (where d > 16) as by_dimension,
    by_width - by_dimension as effect
from placed
group by seed
