-- slug curve-breaks-at-the-minimum: figure-7-1
-- in the mean: The learning curve falls faster once features are minimal [Fig 7.1 (a), 7.2 (there of ResNet18 on
--     CIFAR10)]
-- asks: Of every seed: what is the slope of the log of test error and loss against the log of the points up to the
--     first number from which on kappa is below 0.1, and from there on? By how much is the second smaller? One number
--     of points has no slope.
-- setting: test {curve}
-- measured: exponent {avg(slope_before):.2f} before and {avg(slope_after):.2f} after kappa falls below 0.1, at
--     {median(minimal_from):.0f} points (median)
with curves as (
    select preset, seed, n, minimal_from, unnest(['error', 'loss']) as curve, unnest([error, loss]) as y
    from beside_crossing
    where minimal_from is not null
),
slopes as (
    select
        preset, seed, curve, any_value(minimal_from) as minimal_from,
        nullif(regr_slope(ln(greatest(y, 1e-4)), ln(n)) filter (where n <= minimal_from), 'nan') as slope_before,
        nullif(regr_slope(ln(greatest(y, 1e-4)), ln(n)) filter (where n >= minimal_from), 'nan') as slope_after
    from curves
    group by preset, seed, curve
)
select *, slope_before - slope_after as effect from slopes
