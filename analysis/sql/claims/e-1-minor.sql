-- E.1: is the mean of a minor entry of W(0) zero, where U is normal? A statement about all seeds together: it holds (k
-- = n) if the mean of w_12 lies within 2.58 standard errors of zero, else not (k = 0). Rows by d'.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts
select
    convention, format('U normal, d'' = {}, tau = {:.3g}', width, tau) as setting,
    count(*) as n,
    case when abs(avg(w_12)) <= 2.58 * stddev_samp(w_12) / sqrt(count(*)) then count(*) else 0 end as k,
    format(
        'mean w_12 {:.5f}, standard error {:.5f}; positive in {:.0f} % of seeds',
        avg(w_12), stddev_samp(w_12) / sqrt(count(*)), 100 * avg((w_12 > 0)::integer)
    ) as measured
from starts
group by convention, width, tau
order by convention, width
