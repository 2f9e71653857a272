-- E.1: is the mean of a major entry of W(0) d' tau^2, where U has d' columns of entries N(0, tau^2)? A statement about
-- all seeds together: true if the mean of w_11 lies within 2.58 standard errors of it, which are at most a tenth of it.
-- Rows by d'.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts,
means as (
    select
        convention, format('U normal, d'' = {}, tau = {:.3g}', width, tau) as setting, width, count(*) as seeds,
        'w_11(0):' as what, avg(w_11) as mean, stddev_samp(w_11) / sqrt(count(*)) as se,
        any_value(width * tau ** 2) as expected, any_value(width * tau ** 2) as scale
    from starts
    group by convention, width, tau
),
-- include: claims/shared/told-mean
