-- Of every seed: how much more often does the net get to the answer at the largest third of the spreads than at the
-- smallest, and, at one spread, where the clusters are far out (mu_1 above 1) than where they are near? Which is more?
-- Added after results had been seen.
with
-- include: findings/shared/runs,
placed as (
    select *, outcome = 'generalized' as found, sigma[1] as spread, mu[1] > 1 as far from runs where mu[1] <> 1
),
edges as (
    select xs[ceil(len(xs) / 3)::integer] as low_to, xs[len(xs) + 1 - ceil(len(xs) / 3)::integer] as high_from
    from (select list_sort(list(distinct spread)) as xs from placed)
),
by_seed as (
    select
        seed,
        avg(found::integer) filter (where spread <= low_to) as small,
        avg(found::integer) filter (where spread >= high_from) as large,
        avg(found::integer) filter (where not far) as near_by, avg(found::integer) filter (where far) as far_out
    from placed, edges group by seed
)
select
    (select low_to from edges) as low_to, (select high_from from edges) as high_from,
    list(small order by seed) as small, list(large order by seed) as large,
    list(near_by order by seed) as near_by, list(far_out order by seed) as far_out,
    list(large - small - abs(far_out - near_by) order by seed) as effect
from by_seed
