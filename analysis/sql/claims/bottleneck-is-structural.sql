-- Of every seed with fewer columns in U than concepts (rank(U_0) < s): is the outcome `structural`, and the final
-- training loss at least half the sum of the s - r smallest a_p?
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard), theory.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    left join outcomes_theory theory on theory.cell_id = sim.cell_id and theory.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
)
select
    convention, format('symmetric, {}, s = {}, rank(U_0) = {}', drive, s, rank0) as setting,
    count(*) as n,
    count(*) filter (where outcome = 'structural' and final_train_loss >= least_training_loss * (1 - 1e-6)) as k,
    format(
        'final training loss {:.4f} times the bound (median), {:.4f} (least); final OOD loss {:.2f} L_ref (median)',
        median(final_train_loss / least_training_loss), min(final_train_loss / least_training_loss),
        median(final_ood_loss / l_ref)
    ) as measured
from runs
where model = 'symmetric' and rank0 < s
group by convention, drive, s, rank0
order by convention, drive, s, rank0
