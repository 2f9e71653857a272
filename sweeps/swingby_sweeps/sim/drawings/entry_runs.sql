-- Single runs, one row each, whole: entries of the Jacobian (row-major, s x s) and both losses, at every recorded step.
-- $1 is the sweep's id; $2 and $3 are points and seeds, in pairs.
with asked as (
    select unnest($2) as point, unnest($3) as seed
)
select
    members.point, sim.seed, sim.status, sim.model, sim.dtype, sim.s, sim.l_ref,
    sim.step, sim.jacobian, sim.ood_loss, sim.train_loss
from members
join sim using (cell_id)
join asked on asked.point = members.point and asked.seed = sim.seed
where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
order by members.point, sim.seed
