-- Of every seed: is the run trapped for good, away from the answer? Training U it must end in a state that the flow
-- does not leave (outcome failed: no gradient, no growing direction). The iteration of W certifies nothing; there a
-- seed counts if it ends above 1 % of L_ref without having left the cone of positive semidefinite matrices (neither
-- artefact nor diverged) and without a step in which the last tenth of its records still falls.
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
    count(*) filter (where outcome = 'failed' or (
        model = 'w_recurrence' and outcome = 'plateau' and ood_loss[-1] >= 0.999 * ood_loss[len(ood_loss) * 9 // 10]
    )) as k,
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
