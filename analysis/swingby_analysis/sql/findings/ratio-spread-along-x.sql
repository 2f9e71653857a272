-- Of every seed: in what share of its runs is there transient memorization, at small, middle and large signal ratios?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-ratio-spread,
-- include: findings/shared/between-x
