-- Of every seed: does full-batch gradient descent on one layer without bias follow the theorem's closed form on the
-- moments of the same points, within 1 % of ||x^|| at every recorded step? What is left is the length of a step. Rows
-- by mu.
with
-- include: claims/shared/runs,
-- include: claims/shared/closed-form-pairs
select
    convention,
    format('mu = {}; a step is {:.3g} of the fastest rate', mu, max(time_per_step * list_max(a))) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.01) as k,
    format(
        'largest distance {:.3f} % of ||x^|| (median seed), {:.3f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from pairs
where drive = 'gd' and moments = 'sample'
group by convention, mu
order by convention, mu
