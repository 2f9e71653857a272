-- Of every run of the grid: how does it end?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-width-gain,
-- include: findings/shared/fate
