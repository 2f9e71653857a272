-- Of every seed: at the smallest initial scale of the grid, are the terminal rates of the symmetric flow those of the
-- theory, 2 a_k and a_i + a_j, within 3 % for every entry? Beside it: the largest deviation at the largest scale. Rates
-- in the time of eq 4.3. Rows by mu. Seeds without a fit tell nothing.
with
-- include: claims/shared/runs,
-- Repaired after results were seen: a run may have no rate of a minor entry, and its NULL took the whole list along.
rates as (
    select
        convention, seed, mu, init_gain, unnest(terminal_rate || coalesce(minor_rate, [])) as rate,
        unnest(terminal_predicted || coalesce(minor_predicted, [])) as predicted
    from runs
    where model = 'symmetric' and drive = 'flow' and init = 'normal' and terminal_rate is not null
),
runs_off as (
    select convention, seed, mu, init_gain, max(abs(rate / predicted - 1)) as off
    from rates
    where rate is not null and predicted is not null
    group by convention, seed, mu, init_gain
),
seeds as (
    select
        convention, seed, mu, min(init_gain) as least, max(init_gain) as most, arg_min(off, init_gain) as off_least,
        arg_max(off, init_gain) as off_most
    from runs_off
    group by convention, seed, mu
)
select
    convention, format('symmetric flow, mu = {}, U normal of scale {:.3g}', mu, min(least)) as setting,
    count(*) as n,
    count(*) filter (where off_least <= 0.03) as k,
    format(
        'off by {:.2g} % at most (median seed), {:.2g} % (worst); from scale {:.3g} by {:.2g} % (median)',
        100 * median(off_least), 100 * max(off_least), max(most), 100 * median(off_most)
    ) as measured
from seeds
group by convention, mu
order by convention, mu
