-- Of every seed: does each major entry of the symmetric model, from the second in falling a_p on, reach one half only
-- after the minor entry that joins it to the one before has come to its peak in size (E.1: it starts to grow only after
-- the corresponding minor entry is suppressed)?
with
-- include: claims/shared/runs,
ranked as (
    select
        *,
        list_transform(list_sort(list_zip(a, range(1, s + 1)), 'desc'), lambda pair: pair[2]) as places
    from runs
    where model = 'symmetric' and s >= 2 and jacobian is not null
),
pairs as (
    select
        convention, seed, drive, s, mu, sigma, step, jacobian,
        places[rank] as i, places[rank + 1] as j
    from ranked, range(1, s) r(rank)
),
times as (
    select
        convention, seed, drive, s, mu, sigma, i, j,
        step[list_position(
            list_transform(jacobian, lambda w: abs(w[s * (i - 1) + j])),
            list_max(list_transform(jacobian, lambda w: abs(w[s * (i - 1) + j])))
        )] as peak,
        step[list_position(list_transform(jacobian, lambda w: w[s * (j - 1) + j] >= 0.5), true)] as half
    from pairs
),
seeds as (
    select
        convention, seed, drive, s, mu, sigma,
        bool_and(coalesce(peak <= half, true)) as holds, median(peak / half) as ratio, count(half) as halves
    from times
    group by all
)
select
    convention, format('{}, s = {}, mu = {}, sigma = {}', drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where holds and halves > 0) as k,
    format('peak of the minor at {:.2f} of the time of the major (median pair)', median(ratio)) as measured
from seeds
group by convention, drive, s, mu, sigma
order by convention, drive, s, mu, sigma
