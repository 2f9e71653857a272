-- Of every seed: does each major entry of the symmetric model, from the second in falling a_p on, reach one half only
-- after the minor entry that joins it to the one before has come to its peak in size? A pair whose major entry never
-- gets there does not count, and a seed without any other counts against.
with
-- include: claims/shared/runs,
-- include: claims/shared/minor-beside-major,
seeds as (
    select
        convention, seed, drive, s, mu, sigma,
        bool_and(coalesce(peak <= half, true)) as holds, median(step[peak] / step[half]) as ratio,
        count(half) as halves
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
