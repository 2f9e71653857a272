-- What the verdicts on diffusion rest on: sweeps, cells, seeds a sweep, and when the last cell was trained. The ids of
-- the sweeps stand in the claims' queries.
with
-- include: claims-asked,
cells as (
    select sweep_id, cell_id, diffusion.seed, shards.finished
    from asked
    join members using (sweep_id)
    join diffusion using (cell_id)
    join shards using (shard)
),
-- include: claims-rest
