-- Of every seed: in what share of its runs is there transient memorization, at small and at large spreads?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-ratio-spread,
-- include: findings/shared/along-y
