-- Of every seed: in what share of its runs is there transient memorization, from small and from large starts?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-ratio-gain,
-- include: findings/shared/along-y
