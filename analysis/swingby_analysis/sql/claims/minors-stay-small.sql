-- Of every seed: does every minor entry stay in the initial phase, |w_ij| <= P beta omega (Assertion D.1, Lemma D.8),
-- at every recorded step, beta omega being the largest |w_ij(0)|? Rows by the constants, and by whether all of App. D's
-- assumptions are met under them (judged here, from W(0), a_p and the step).
with
-- include: claims/shared/runs,
-- include: claims/shared/bounds,
told as (
    select *, ln(greatest(abs(now), 1e-300)) - log_P - ln(largest) as above from placed where i <> j
),
by_seed as (
    select
        convention, setting, drive, log_P, met, seed, bool_and(coalesce(above <= 0, false)) as holds,
        max(above) as worst
    from told
    group by all
)
select
    convention, setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format(
        'log of the largest minor entry over P beta omega: {:.3g} (median seed), {:.3g} (worst)', median(worst),
        max(worst)
    ) as measured
from by_seed
group by convention, setting, drive, log_P, met
order by convention, drive, log_P, met desc, setting
