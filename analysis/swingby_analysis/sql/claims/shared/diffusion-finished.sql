-- The finished diffusion runs of the sweeps asked about, each under its preset, with what the detector `bends` says of
-- it.
chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
finished as (
    select chosen.convention, diffusion.*, told.* exclude (cell_id, of_shard)
    from chosen
    join diffusion using (cell_id)
    left join outcomes_bends told on told.cell_id = diffusion.cell_id and told.of_shard = diffusion.shard
    where diffusion.status in ('ok', 'diverged')
)
