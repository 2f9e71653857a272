-- Points that there are with and without the training points near the test point, and of every seed the shares of both.
placed as (
    select *, round(mu[1], 5) as centre, round(sigma[1], 5) as spread, outcome = 'generalized' as found from runs
),
shared as (
    select * from placed where (centre, spread) in (select (centre, spread) from placed where truncate)
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where truncate) as without_them, avg(swings::integer) filter (where not truncate) as with_them,
        avg(found::integer) filter (where truncate) as found_without, avg(found::integer) filter (where not truncate) as found_with
    from shared group by seed
)
