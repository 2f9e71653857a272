-- E.1: is the mean of a minor entry of W(0) zero, where U is normal? A statement about all seeds together: true if the
-- mean of w_12 lies within 2.58 standard errors of zero, which are at most a tenth of a major entry's mean d' tau^2.
-- Rows by d'.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts,
means as (
    select
        convention, format('U normal, d'' = {}, tau = {:.3g}', width, tau) as setting, width, count(*) as seeds,
        format('positive in {:.0f} % of seeds; w_12(0):', 100 * avg((w_12 > 0)::integer)) as what,
        avg(w_12) as mean, stddev_samp(w_12) / sqrt(count(*)) as se, 0::double as expected,
        any_value(width * tau ** 2) as scale
    from starts
    group by convention, width, tau
),
-- include: claims/shared/told-mean
