-- Of every run: how far its nearest training point lies from the test point. Of the runs that are drawn, the recorded training
-- points too, the nearest first: at point $2[i] the run of seed $3[i]. $1 is the sweep's id.
select
    members.point, sim.seed, sim.mu,
    list_distance(sim.training_point[1], sim.mu) as nearest,
    case when $3[list_position($2, members.point)] = sim.seed then sim.training_point end as training_point
from members join sim on sim.cell_id = members.cell_id
where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and len(sim.training_point) > 0
order by members.point, sim.seed
