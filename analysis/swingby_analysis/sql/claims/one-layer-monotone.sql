-- Of every seed: is the OOD loss of one layer monotone, as the detector sees it (fewer than two descents), and without
-- a retreat of any output, at every point of the grid?
with
-- include: claims/shared/runs
select
    convention, format('one_layer, d = {}; {} points', any_value(d), count(distinct (mu, sigma))) as setting,
    count(distinct seed) as n,
    count(distinct seed) - count(distinct seed) filter (where non_monotone or retreat) as k,
    format(
        'two descents in {:.1f} % of runs, a retreat in {:.1f} %',
        100 * avg(coalesce(non_monotone, false)::integer), 100 * avg(coalesce(retreat, false)::integer)
    ) as measured
from runs
where model = 'one_layer'
group by convention
order by convention
