-- E.1, read beside the major entry: at one tau, does the standard deviation of w_12(0) over the mean of w_11(0) fall as
-- d' grows? Of a normal U it is 1/sqrt(d'). A statement about all seeds together: true if the slope of its log against
-- log d', over the widths of the grid, is negative.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts,
widths as (
    select
        convention, width, count(*) as n, stddev_samp(w_12) / avg(w_11) as spread,
        'sd of w_12 over the mean of w_11' as what, -0.5 as expected
    from starts
    group by convention, width
),
-- include: claims/shared/told-slope
