-- E.1, read beside the major entry: at one tau, does the standard deviation of w_12(0) over the mean of w_11(0) fall as
-- d' grows? Of a normal U it is 1/sqrt(d'). A statement about all seeds together: it holds (k = n) if the slope of its
-- log against log d', over the widths of the grid, is negative, else not (k = 0).
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts,
widths as (
    select
        convention, width, count(*) as n, stddev_samp(w_12) / avg(w_11) as spread from starts group by convention, width
)
select
    convention, format('U normal; {} widths d'' from {} to {}', count(*), min(width), max(width)) as setting,
    min(n) as n,
    case when regr_slope(ln(spread), ln(width)) < 0 then min(n) else 0 end as k,
    format(
        'sd of w_12 over the mean of w_11 goes as d''^{:.3f}; expected {:.1f}', regr_slope(ln(spread), ln(width)), -0.5
    ) as measured
from widths
group by convention
order by convention
