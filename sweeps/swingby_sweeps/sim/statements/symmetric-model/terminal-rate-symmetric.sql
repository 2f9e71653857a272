-- claim: The terminal rates of the symmetric flow are those of the theory, for major and minor entries
-- source: 4.2.1, eq 4.3
-- order: 4.16
-- sweeps: figure-5, figure-8, figure-9
-- rule: share of seeds
-- why: The major entry that arrives last has the rate of the theory. Those before it do not: probably other entries are
--     still on their way while they arrive, unless the start is small enough to part them.
-- after: Rows by the scale of the start, and the sweep over scales moved to a claim of its own. The query was repaired:
--     runs without any rate of a minor entry fell out of it.
-- setting: symmetric flow, s = {s}, U {init} of scale {scale:.3g}
-- measured: rate / prediction {median(rate / predicted):.3f} (median), {min(rate / predicted):.3f} to {max(rate /
--     predicted):.3f} (all fits); off: {count(*) filter (where kind = 'last' and not holds)} of {count(*) filter (where
--     kind = 'last')} major entries that arrive last, {count(*) filter (where kind = 'earlier' and not holds)} of
--     {count(*) filter (where kind = 'earlier')} that arrive earlier, {count(*) filter (where kind = 'minor' and not
--     holds)} of {count(*) filter (where kind = 'minor')} minor ones
--
-- Of every seed: are the terminal rates of the symmetric flow those of the theory, 2 a_k for log(|1 - w_kk| / w_kk) and
-- a_i + a_j for log |w_ij|, within 3 %, for every entry and point of the grid? Rates in the time of eq 4.3, a_p as the
-- model meets them (squared where A squared drives it). Rows by the scale of U at the start (largest value of a uniform
-- one, gain of a normal one). Seeds without a fit tell nothing. Also measured: which entries are off; the major entry
-- of the least a_p arrives last. Repaired after results were seen: a run may have no rate of a minor entry, and its
-- NULL took the whole list along.
with rates as (
    select
        preset, seed, s, init, case when init = 'uniform' then init_high else init_gain end as scale,
        unnest(terminal_rate || coalesce(minor_rate, [])) as rate,
        unnest(terminal_predicted || coalesce(minor_predicted, [])) as predicted,
        unnest(
            list_transform(a, lambda signal: case when signal = list_min(a) then 'last' else 'earlier' end)
            || list_transform(coalesce(minor_rate, []), lambda rate: 'minor')
        ) as kind
    from runs
    where model = 'symmetric' and drive = 'flow' and terminal_rate is not null
)
select *, coalesce(abs(rate / predicted - 1) <= 0.03, false) as holds
from rates
where rate is not null and predicted is not null
