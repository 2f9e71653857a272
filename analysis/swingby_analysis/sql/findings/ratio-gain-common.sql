-- Of every run of the grid: does it show transient memorization? Are there points of the grid at which most seeds do?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-ratio-gain,
-- include: findings/shared/common
