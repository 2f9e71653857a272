-- A piece of a ReLU net that meets one cluster alone learns along that cluster's spread at sigma^2 / C. Which of two lines
-- tells better which runs get to the answer: sigma^2 T / C = 1 with T the time of the run, or one spread for all times,
-- the one that errs least? A run errs if it gets to the answer below the line, or does not above it.
with
-- include: findings/shared/runs,
placed as (
    select
        *, outcome = 'generalized' as found, sigma[1] as spread,
        sqrt(s / (epochs * ceil(s * n / batch_size) * time_per_step)) as needed
    from runs
),
fixed as (
    select border, avg((found <> (spread > border))::integer) as wrong
    from placed, (select distinct spread as border from placed) borders group by border
),
best as (select arg_min(border, wrong) as border from fixed),
by_seed as (
    select
        seed, avg((found <> (spread > needed))::integer) as by_time,
        avg((found <> (spread > border))::integer) as by_spread,
        avg(found::integer) filter (where spread > needed) as found_above,
        avg(found::integer) filter (where spread <= needed) as found_below
    from placed, best group by seed
)
select
    list(found_above order by seed) as found_above, list(found_below order by seed) as found_below,
    list(by_time order by seed) as by_time, list(by_spread order by seed) as by_spread,
    (select border from best) as border, list(by_spread - by_time order by seed) as effect
from by_seed
