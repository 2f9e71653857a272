-- Of every seed: in what share of its runs is there transient memorization, where the test point is near the nearest cluster, in units of sigma, and where it is far?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-distance,
-- include: findings/shared/along-x
