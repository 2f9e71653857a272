-- E.1: "when d' is small, the variance of w_ij will be large": at one tau, does the standard deviation of w_12(0) fall
-- as d' grows? Of a normal U it is tau^2 sqrt(d'). A statement about all seeds together: true if the slope of its log
-- against log d', over the widths of the grid, is negative.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts,
widths as (
    select
        convention, width, count(*) as n, stddev_samp(w_12) as spread, 'sd of w_12 itself' as what,
        0.5 as expected
    from starts
    group by convention, width
),
-- include: claims/shared/told-slope
