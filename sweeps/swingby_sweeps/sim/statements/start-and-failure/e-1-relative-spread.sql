-- claim: Beside the major entry, the spread of a minor entry at the start is large where the hidden width is small
-- source: App. E, eq E.1 read in ratios
-- order: 7.4
-- sweeps: claim-initial-weights
-- rule: one statement about all seeds
-- after: The query was repaired: one statement about all seeds was counted as a share of them.
-- setting: U normal; {any_value(grid)} widths d' from {any_value(least)} to {any_value(most)}
-- measured: sd of w_12 over the mean of w_11 goes as d'^p, p = {any_value(slope):.3f} +- {any_value(se):.3f} (standard
--     error; {any_value(seeds)} seeds a width); expected {any_value(expected):.1f}
--
-- E.1, read beside the major entry: at one tau, does the standard deviation of w_12(0) over the mean of w_11(0) fall as
-- d' grows? Of a normal U it is 1/sqrt(d'). A statement about all seeds together: true if the slope of its log against
-- log d', over the widths of the grid, is negative.
-- Repaired after results were seen: it counted all seeds, of which it is one statement.
with widths as (
    select
        preset, width, count(*) as n, stddev_samp(w_12) / avg(w_11) as spread,
        any_value(e_1_minor_spread / e_1_major) as predicted
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
