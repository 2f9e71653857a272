-- Of every seed: in what share of its runs is there transient memorization, in shallow and in deep nets?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-rate-depth,
-- include: findings/shared/along-y
