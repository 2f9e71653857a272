-- Of every seed: does the OOD loss fall at least as many times as there are concepts (descents >= s, by the detector)?
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
    convention, format('{}, {}, s = {}, mu = {}, sigma = {}', model, drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where descents >= s) as k,
    format(
        'descents: {:.2f} on average, {} at most; two or more in {:.0f} %; rise {:.3f} L_ref at most',
        avg(descents), max(descents), 100 * avg((descents >= 2)::integer), max(bump_height)
    ) as measured
from runs
where model = 'symmetric'
group by convention, model, drive, s, mu, sigma
order by convention, model, drive, s, mu, sigma
