-- Of every seed: does the peak of the suppressed minor entry |w_12| scale with the initial scale omega (proportional to
-- init_gain^2) as omega^((a_1 - a_2)/(2 a_1)), a_1 > a_2? The exponent is the slope of log peak against log omega over
-- the six smallest scales (init_gain up to 10^-2.5, five decades of omega); it counts within 5 % of the theory's.
with
-- include: claims/shared/runs,
peaks as (
    select
        convention, seed, mu, drive, init_gain, list_max(a) as a_1, list_min(a) as a_2, 2 * ln(init_gain) as log_omega,
        ln(list_max(list_transform(jacobian, lambda w: abs(w[2])))) as log_peak
    from runs
    where model = 'symmetric' and s = 2 and init_gain <= 0.0032
),
fits as (
    select
        convention, seed, mu, drive, any_value((a_1 - a_2) / (2 * a_1)) as predicted,
        regr_slope(log_peak, log_omega) as found,
        regr_r2(log_peak, log_omega) as r2, count(*) as scales
    from peaks
    group by convention, seed, mu, drive
)
select
    convention, format('symmetric, {}, mu = {}; {} scales', drive, mu, max(scales)) as setting,
    count(*) as n,
    count(*) filter (where abs(found / predicted - 1) <= 0.05) as k,
    format(
        'exponent {:.4f} (median), {:.4f} to {:.4f} (all seeds); predicted {:.4f}; R^2 at least {:.5f}',
        median(found), min(found), max(found), any_value(predicted), min(r2)
    ) as measured
from fits
group by convention, mu, drive
order by convention, mu
