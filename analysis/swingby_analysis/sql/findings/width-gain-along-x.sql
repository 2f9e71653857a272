-- Of every seed: in what share of its runs is there transient memorization, at small, middle and large gains?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-width-gain,
-- include: findings/shared/between-x
