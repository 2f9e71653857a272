-- A row a run by SGD that has a twin by full-batch descent: the height of the twin's highest bump over L_ref, whether the twin shows
-- transient memorization, whether it is monotone to 0.1 % of L_ref, and whether the run itself is called non-monotone. Runs that
-- diverged are left out. $1 is the sweep's id.
select
    members.point, sim.seed, sim.lr, sim.layers,
    seen.twin_gd_bump_height as bump,
    seen.twin_gd_transient_memorization as transient,
    seen.twin_gd_descents_fine < 2 as monotone,
    seen.non_monotone as called
from members
join sim using (cell_id)
join outcomes_descents as seen on seen.cell_id = sim.cell_id and seen.of_shard = sim.shard
where members.sweep_id = $1 and sim.status = 'ok' and seen.twin_gd_descents_fine is not null
order by members.point, sim.seed
