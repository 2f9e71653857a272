-- Of every seed, at the points of the coarser grid: is there less transient memorization, and does the net get to the
-- answer less often, where training points near the test point were redrawn than where they were not?
with
-- include: findings/shared/runs,
-- include: findings/shared/twins
select
    list(with_them order by seed) as with_them, list(without_them order by seed) as without_them,
    list(found_with order by seed) as found_with, list(found_without order by seed) as found_without,
    list(with_them - without_them order by seed) as effect
from by_seed
