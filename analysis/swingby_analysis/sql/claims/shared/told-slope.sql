-- How the spread in `widths` goes with d': the slope of its log against log d', with the standard error of the fit;
-- true (k = 1) if it is negative. Repaired after results were seen: it counted all seeds, of which it is one statement.
fits as (
    select
        convention, count(*) as grid, min(width) as least, max(width) as most, min(n) as seeds,
        any_value(what) as what, any_value(expected)::double as expected, regr_slope(ln(spread), ln(width)) as slope,
        sqrt(greatest(1 - regr_r2(ln(spread), ln(width)), 0) / (count(*) - 2)
            * regr_syy(ln(spread), ln(width)) / regr_sxx(ln(spread), ln(width))) as se
    from widths
    where spread > 0
    group by convention
)
select
    convention, format('U normal; {} widths d'' from {} to {}', grid, least, most) as setting,
    1 as n,
    (slope < 0)::integer as k,
    format(
        '{} goes as d''^p, p = {:.3f} +- {:.3f} (standard error; {} seeds a width); expected {:.1f}',
        what, slope, se, seeds, expected
    ) as measured
from fits
order by convention
