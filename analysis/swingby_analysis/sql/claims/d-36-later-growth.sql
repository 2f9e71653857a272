-- Of every seed: once w_ii has left the initial phase (w_ii >= P beta omega) and while it is below lambda = 0.85, does
-- w_ii >= w_ii(t_0) exp(2 eta (t - t_0) a_i (1 - lambda) / kappa) (D.36) hold at every recorded step (rounding of 1e-6
-- in the log allowed)? Seeds with no record in that stretch tell nothing. Rows by the constants, and by whether all of
-- App. D's assumptions are met under them (judged here, from W(0), a_p and the step).
with
-- include: claims/shared/runs,
-- include: claims/shared/bounds,
stretches as (
    select
        *, min(t) filter (where ln(greatest(now, 1e-300)) >= log_P + ln(largest)) over entry as t_0,
        min(t) filter (where now >= 0.85) over entry as t_1
    from placed
    where i = j
    window entry as (partition by cell_id, log_P, i)
),
told as (
    select
        *,
        ln(
            first_value(now) over (partition by cell_id, log_P, i order by t)
        ) + 2 * (t - t_0) * a[i] * (1 - 0.85) / kappa
            - ln(greatest(now, 1e-300)) as beyond,
        beyond <= 1e-6 as kept, 'the bound over w_ii' as what
    from stretches
    where t >= t_0 and (t_1 is null or t < t_1)
),
-- include: claims/shared/bounds-growth
