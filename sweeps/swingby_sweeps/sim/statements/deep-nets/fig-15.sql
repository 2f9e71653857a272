-- always: No training point lies near the test point [Fig 15, F.3]
-- asks: Of every seed: is no training point within min(mu)/2 of the test point? The 50 points nearest to it are among
--     those recorded.
-- sweeps: figure-15
-- after: Its kind was named when results had been seen: the paper says that there is no such point.
-- why: Where sigma is a variance the clusters are wide enough for a few points to come near.
-- setting: d = {d}, mu = {mu}, sigma = {sigma} ({sigma_is})
-- measured: nearest point at {median(nearest):.2f} min(mu) (median seed), {min(nearest):.2f} (least); within:
--     {max(within)} points at most
with points as (
    select preset, seed, d, mu, sigma, sigma_is, unnest(training_point) as x
    from runs
    where training_point is not null and s = 2 and not truncate
)
select
    preset, d, mu, sigma, sigma_is, seed,
    min(sqrt((x[1] - mu[1]) ** 2 + (x[2] - mu[2]) ** 2) / list_min(mu)) as nearest,
    count(*) filter (where sqrt((x[1] - mu[1]) ** 2 + (x[2] - mu[2]) ** 2) < list_min(mu) / 2) as within,
    within = 0 as holds
from points
group by preset, d, mu, sigma, sigma_is, seed
