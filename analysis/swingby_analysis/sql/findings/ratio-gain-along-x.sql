-- Of every seed: in what share of its runs is there transient memorization, at small and at large signal ratios?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-ratio-gain,
-- include: findings/shared/along-x
