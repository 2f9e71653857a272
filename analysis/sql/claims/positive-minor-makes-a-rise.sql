-- Of every seed of the symmetric model with two concepts whose minor entry w_12 is positive at the start: does the OOD
-- loss have two descents? Seeds that start with a negative one tell nothing.
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
    convention, format('symmetric, {}, mu = {}', drive, mu) as setting,
    count(*) as n,
    count(*) filter (where non_monotone) as k,
    format('rise {:.4f} L_ref (median), {:.4f} (largest)', median(bump_height), max(bump_height)) as measured
from runs
where model = 'symmetric' and s = 2 and jacobian[1][2] > 0
group by convention, drive, mu
order by convention, drive, mu
