-- Of every seed: are the terminal rates of the symmetric flow those of the theory, 2 a_k for log(|1 - w_kk| / w_kk) and
-- a_i + a_j for log |w_ij|, within 3 %, for every entry and point of the grid? Rates in the time of eq 4.3, a_p as the
-- model meets them (squared where A squared drives it). Rows by the scale of U at the start (largest value of a uniform
-- one, gain of a normal one). Seeds without a fit tell nothing. Beside it: which entries are off; the major entry of
-- the least a_p arrives last.
with
-- include: claims/shared/runs,
-- Repaired after results were seen: a run may have no rate of a minor entry, and its NULL took the whole list along.
rates as (
    select
        convention, seed, s, init, case when init = 'uniform' then init_high else init_gain end as scale,
        unnest(terminal_rate || coalesce(minor_rate, [])) as rate,
        unnest(terminal_predicted || coalesce(minor_predicted, [])) as predicted,
        unnest(
            list_transform(a, lambda signal: case when signal = list_min(a) then 'last' else 'earlier' end)
            || list_transform(coalesce(minor_rate, []), lambda rate: 'minor')
        ) as kind
    from runs
    where model = 'symmetric' and drive = 'flow' and terminal_rate is not null
),
told as (
    select *, not abs(rate / predicted - 1) <= 0.03 as misses
    from rates
    where rate is not null and predicted is not null
)
select
    convention, format('symmetric flow, s = {}, U {} of scale {:.3g}', s, init, scale) as setting,
    count(distinct seed) as n,
    count(distinct seed) - count(distinct seed) filter (where misses) as k,
    format(
        'rate / prediction {:.3f} (median), {:.3f} to {:.3f} (all fits); off: {} of {} major entries that arrive last, '
        || '{} of {} that arrive earlier, {} of {} minor ones',
        median(rate / predicted), min(rate / predicted), max(rate / predicted),
        count(*) filter (where kind = 'last' and misses), count(*) filter (where kind = 'last'),
        count(*) filter (where kind = 'earlier' and misses), count(*) filter (where kind = 'earlier'),
        count(*) filter (where kind = 'minor' and misses), count(*) filter (where kind = 'minor')
    ) as measured
from told
group by convention, s, init, scale
order by convention, s, init, scale
