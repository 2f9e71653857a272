-- A row a run: its point and parameters, how it ended, and what the detector says of the very row that stands for it.
runs as (
    select
        members.point, sim.seed, sim.cell_id, sim.model, sim.layers, sim.width, sim.d, sim.s, sim.mu, sim.sigma, sim.lr,
        sim.init_gain, sim.init_high, sim.truncate, sim.epochs, sim.n, sim.batch_size, sim.time_per_step, sim.a, sim.status,
        sim.final_ood_loss / sim.l_ref as final_loss, told.outcome, told.descents_fine, told.bump_height,
        told.transient_memorization, coalesce(told.transient_memorization, false) as swings
    from members
    join sim using (cell_id)
    join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    where list_contains($1, members.sweep_id) and sim.status in ('ok', 'diverged')
)
