-- What the verdicts on an experiment rest on: sweeps, cells, seeds a sweep, and when the last cell was trained. The ids
-- of the sweeps stand in the claims' queries. $1 is the experiment.
with
-- include: claims-asked,
cells as (
    select sweep_id, cell_id, trained.seed, shards.finished
    from asked
    join members using (sweep_id)
    join query_table($1) trained using (cell_id)
    join shards using (shard)
),
-- include: claims-rest
