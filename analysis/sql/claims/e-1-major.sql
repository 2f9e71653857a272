-- E.1: is the mean of a major entry of W(0) d' tau^2, where U has d' columns of entries N(0, tau^2)? A statement about
-- all seeds together: it holds (k = n) if the mean of w_11 lies within 2.58 standard errors of it, else not (k = 0).
-- Rows by d'.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts
select
    convention, format('U normal, d'' = {}, tau = {:.3g}', width, tau) as setting,
    count(*) as n,
    case
        when abs(avg(w_11) - any_value(width * tau ** 2)) <= 2.58 * stddev_samp(w_11) / sqrt(count(*)) then count(*)
        else 0
    end as k,
    format(
        'mean w_11 {:.4f}, d'' tau^2 = {:.4f}, standard error {:.4f}', avg(w_11), any_value(width * tau ** 2),
        stddev_samp(w_11) / sqrt(count(*))
    ) as measured
from starts
group by convention, width, tau
order by convention, width
