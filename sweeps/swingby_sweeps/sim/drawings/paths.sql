-- The output of every run in the s informative directions at its recorded steps, and mu, its unit: one row for each run that ended,
-- by divergence too. Runs that failed with an error have no row. $1 is the sweep's id.
select members.point, sim.seed, sim.mu, sim.zero_cluster, sim.step, sim.output
from members join sim on sim.cell_id = members.cell_id
where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
order by members.point, sim.seed
