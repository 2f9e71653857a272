-- Of every seed: in what share of its runs is there transient memorization, in low and in high dimension?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-dimension-width,
-- include: findings/shared/along-x
