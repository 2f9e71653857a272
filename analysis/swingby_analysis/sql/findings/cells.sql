-- One row a cell that has a result: its point of the grid, parameters, and what the detector says of it. $1 is the sweep's id.
select
    members.point, sim.seed, sim.model, sim.drive, sim.layers, sim.width, sim.d, sim.s, sim.mu, sim.sigma, sim.lr,
    sim.epochs, sim.init_gain, sim.init_high, told.outcome, told.transient_memorization, told.non_monotone, told.retreat,
    told.bump_height, told.descents, told.descents_fine
from members
join sim using (cell_id)
join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
order by members.point, sim.seed
