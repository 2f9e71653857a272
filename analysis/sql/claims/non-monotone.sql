-- Of every seed: does the OOD loss fall, rise and fall again, by more than the detector's threshold (two descents or
-- more)?
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
)
select
    convention, format('L = {}, d = {}, width {}, lr {}, mu = {}', layers, d, width, lr, mu) as setting,
    count(*) as n,
    count(*) filter (where non_monotone) as k,
    format(
        'rise {:.3f} L_ref (median), {:.3f} (largest); transient memorization {:.0f} %, retreat {:.0f} %',
        median(bump_height), max(bump_height),
        100 * avg(coalesce(transient_memorization, false)::integer), 100 * avg(coalesce(retreat, false)::integer)
    ) as measured
from runs
where true
group by convention, layers, d, width, lr, mu
order by convention, layers, d, width, lr, mu
