-- Of every seed: in what share of its runs does the net get to the answer, where the test point is near the nearest
-- cluster, in units of sigma, and where it is far?
with
-- include: findings/shared/runs,
placed as (select * replace (outcome = 'generalized' as swings), mu[1] / sigma[1] as x from runs),
-- include: findings/shared/along-x
