-- Of every seed: does mini-batch SGD on one layer without bias follow the theorem's closed form, run as a drive of its
-- own from the same weights (on the moments of the population, as printed), within 5 % of ||x^|| at every recorded
-- step? Rows by mu: the step lr a_k grows with it.
with
-- include: claims/shared/runs,
-- include: claims/shared/closed-form-pairs
select
    convention,
    format('mu = {}; a step is {:.3g} of the fastest rate', mu, max(time_per_step * list_max(a))) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.05) as k,
    format(
        'largest distance {:.2f} % of ||x^|| (median seed), {:.2f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from pairs
where drive = 'sgd' and moments = 'population'
group by convention, mu
order by convention, mu
