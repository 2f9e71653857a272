-- A row a finished run: whether it diverged, whether it has a twin by full-batch descent, and whether that diverged before the run
-- ended, in which case the twin has fewer records. $1 is the sweep's id.
select
    members.point, sim.seed,
    sim.status = 'diverged' as run_diverged,
    sim.twin_gd_ood_loss is not null as has_twin,
    coalesce(len(sim.twin_gd_ood_loss) < len(sim.step), false) as twin_diverged
from members
join sim using (cell_id)
where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
order by members.point, sim.seed
