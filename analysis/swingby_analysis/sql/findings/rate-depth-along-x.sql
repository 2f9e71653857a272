-- Of every seed: in what share of its runs is there transient memorization, at small and at large learning rates?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-rate-depth,
-- include: findings/shared/along-x
