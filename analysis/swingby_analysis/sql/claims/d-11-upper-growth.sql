-- Of every seed: does |w_ij(t)| <= |w_ij(0)| exp(eta t (a_i + a_j) kappa) (D.11) hold for every entry at every recorded
-- step (rounding of 1e-6 in the log allowed)? Rows by the constants, and by whether all of App. D's assumptions are met
-- under them (judged here, from W(0), a_p and the step).
with
-- include: claims/shared/runs,
-- include: claims/shared/bounds,
told as (
    select
        *, ln(abs(now)) - ln(abs(start)) - t * (a[i] + a[j]) * kappa as beyond, beyond <= 1e-6 as kept,
        '|w_ij| over its bound' as what
    from placed
    where now <> 0
),
-- include: claims/shared/bounds-growth
