-- How many of the sweep's results are recorded ones, which have hardly a curve. $1 is the sweep's id.
select count(*) as cells
from members join sim using (cell_id)
where members.sweep_id = $1 and len(sim.recorded) = 0
