-- always: One layer shows no transient memorization: its OOD loss falls, and its output never retreats [4.1]
-- asks: Of every seed: is the OOD loss of one layer monotone, as the detector sees it (fewer than two descents), and
--     without a retreat of any output, at every point of the grid?
-- sweeps: figure-2a, figure-2b
-- setting: one_layer, d = {any_value(d)}; {count(distinct (mu, sigma))} points
-- measured: two descents in {100 * avg(coalesce(non_monotone, false)::integer):.1f} % of runs, a retreat in {100 *
--     avg(coalesce(retreat, false)::integer):.1f} %
select *, not coalesce(non_monotone or retreat, false) as holds from runs where model = 'one_layer'
