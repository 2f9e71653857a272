-- claim: The variance of a minor entry at the start is large where the hidden width is small
-- source: App. E, below eq E.1
-- order: 7.3
-- sweeps: claim-initial-weights
-- rule: one statement about all seeds
-- why: At one spread of the entries of U the variance of a minor entry grows with the width; only beside the major
--     entry does it fall.
-- after: The query was repaired: one statement about all seeds was counted as a share of them.
-- setting: U normal; {any_value(grid)} widths d' from {any_value(least)} to {any_value(most)}
-- measured: sd of w_12 itself goes as d'^p, p = {any_value(slope):.3f} +- {any_value(se):.3f} (standard error;
--     {any_value(seeds)} seeds a width); expected {any_value(expected):.1f}
--
-- E.1: "when d' is small, the variance of w_ij will be large": at one tau, does the standard deviation of w_12(0) fall
-- as d' grows? Of a normal U it is tau^2 sqrt(d'). A statement about all seeds together: true if the slope of its log
-- against log d', over the widths of the grid, is negative.
-- Repaired after results were seen: it counted all seeds, of which it is one statement.
with widths as (
    select
        preset, width, count(*) as n, stddev_samp(w_12) as spread, any_value(e_1_minor_spread) as predicted
    from normal_starts
    group by preset, width
)
select
    preset, count(*) as grid, min(width) as least, max(width) as most, min(n) as seeds,
    regr_slope(ln(predicted), ln(width)) as expected, regr_slope(ln(spread), ln(width)) as slope,
    sqrt(greatest(1 - regr_r2(ln(spread), ln(width)), 0) / (count(*) - 2)
        * regr_syy(ln(spread), ln(width)) / regr_sxx(ln(spread), ln(width))) as se,
    slope < 0 as holds
from widths
where spread > 0
group by preset
