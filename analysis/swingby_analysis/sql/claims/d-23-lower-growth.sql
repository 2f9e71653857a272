-- Of every seed: does |w_ij(t)| >= |w_ij(0)| exp(eta t (a_i + a_j) / kappa) (D.23) hold, with the sign of w_ij(0), for
-- every entry at every recorded step up to T_1 = log P / (2 eta a_max kappa) (rounding of 1e-6 in the log allowed)?
-- Rows by the constants, and by whether all of App. D's assumptions are met under them (judged here, from W(0), a_p and
-- the step).
with
-- include: claims/shared/runs,
-- include: claims/shared/bounds,
told as (
    select
        *, t * (a[i] + a[j]) / kappa - ln(greatest(abs(now), 1e-300)) + ln(abs(start)) as beyond,
        beyond <= 1e-6 and now * start >= 0 as kept, 'the bound over |w_ij|' as what
    from placed
    where t <= log_P / (2 * list_max(a) * kappa)
),
-- include: claims/shared/bounds-growth
