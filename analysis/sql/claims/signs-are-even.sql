-- Is each minor entry of W(0) positive in half of the seeds? One entry a seed (w_12). This is a statement about all
-- seeds together: it holds (k = n) if the count of positive ones lies within 1.96 standard deviations, sqrt(n)/2 each,
-- of n/2, else not (k = 0).
with
-- include: claims/shared/runs,
counts as (
    select
        convention, init, model, s, count(*) as n, count(*) filter (where jacobian[1][2] > 0) as positive
    from runs
    where model = 'symmetric'
    group by convention, init, model, s
)
select
    convention, format('U {}, s = {}', init, s) as setting,
    n,
    case when abs(positive - n / 2) <= 1.96 * sqrt(n) / 2 then n else 0 end as k,
    format('w_12(0) > 0 in {} of {} seeds ({:.0f} %)', positive, n, 100 * positive / n) as measured
from counts
order by convention, s
