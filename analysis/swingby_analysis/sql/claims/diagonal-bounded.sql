-- Of every seed: does 0 <= w_ii <= 1 + 2/K (Lemma D.5) hold for every major entry at every recorded step? Rows by the
-- constants, and by whether all of App. D's assumptions are met under them (judged here, from W(0), a_p and the step).
with
-- include: claims/shared/runs,
-- include: claims/shared/bounds,
told as (
    select * from placed where i = j
),
by_seed as (
    select
        convention, setting, drive, log_P, met, seed,
        bool_and(coalesce(now >= 0 and now <= 1 + 2 / K, false)) as holds, max(now) as most, min(now) as least,
        any_value(1 + 2 / K) as bound
    from told
    group by all
)
select
    convention, setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format(
        'w_ii from {:.2g} to {:.4f} (all seeds); 1 + 2/K = {:.2f}', min(least), max(most), any_value(bound)
    ) as measured
from by_seed
group by convention, setting, drive, log_P, met
order by convention, drive, log_P, met desc, setting
