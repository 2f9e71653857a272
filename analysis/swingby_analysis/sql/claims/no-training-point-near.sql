-- Of every seed: is no training point within min(mu)/2 of the test point? The 50 points nearest to it are among those
-- recorded.
with
-- include: claims/shared/runs,
points as (
    select convention, seed, layers, d, width, mu, sigma, sigma_is, truncate, unnest(training_point) as x
    from runs
    where training_point is not null and s = 2
),
near as (
    select
        convention, d, mu, sigma, sigma_is, truncate, seed,
        min(sqrt((x[1] - mu[1]) ** 2 + (x[2] - mu[2]) ** 2) / list_min(mu)) as nearest,
        count(*) filter (where sqrt((x[1] - mu[1]) ** 2 + (x[2] - mu[2]) ** 2) < list_min(mu) / 2) as within
    from points
    group by all
)
select
    convention, format('d = {}, mu = {}, sigma = {} ({})', d, mu, sigma, sigma_is) as setting,
    count(*) as n,
    count(*) filter (where within = 0) as k,
    format(
        'nearest point at {:.2f} min(mu) (median seed), {:.2f} (least); within: {} points at most', median(nearest),
        min(nearest), max(within)
    ) as measured
from near
where not truncate
group by convention, d, mu, sigma, sigma_is
order by convention, d, mu
