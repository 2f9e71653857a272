-- Of every seed: in what share of its runs is there transient memorization, at small and at large widths?
with
-- include: findings/shared/runs,
-- include: findings/shared/at-width-gain,
-- include: findings/shared/along-y
