-- Of every seed: at the end of the figure's own number of steps, is the OOD loss still above 1 % of L_ref (whatever the
-- reason)?
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
    convention, format('{}, {}, mu = {}, {} steps', model, drive, mu, gd_steps) as setting,
    count(*) as n,
    count(*) filter (where not final_ood_loss <= 0.01 * l_ref or status = 'diverged') as k,
    format(
        'generalized {}, plateau {}, failed {}, artefact {}, diverged {}; final OOD loss {:.3f} L_ref (median)',
        count(*) filter (where outcome = 'generalized'), count(*) filter (where outcome = 'plateau'),
        count(*) filter (where outcome = 'failed'), count(*) filter (where outcome = 'artefact'),
        count(*) filter (where outcome = 'diverged'), median(final_ood_loss / l_ref)
    ) as measured
from runs
where model in ('symmetric', 'w_recurrence')
group by convention, model, drive, mu, gd_steps
order by convention, model, drive, mu, gd_steps
