-- The outputs of every run at the test point and at the training centres (s x s numbers a step, row p is centre p), at its
-- recorded steps, and mu, their unit: one row for each run that ended, by divergence too. $1 is the sweep's id.
select members.point, sim.seed, sim.mu, sim.zero_cluster, sim.step, sim.output, sim.centre_output
from members join sim on sim.cell_id = members.cell_id
where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and len(sim.centre_output) > 0
order by members.point, sim.seed
