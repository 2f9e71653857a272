-- One row a cell that has come to an end: its point of the grid and its preset, parameters, status, scalars, and what the detector says of it.
-- $1 is the sweep's id.
with here as (
    select point, cell_id, preset
    from members join conventions using (sweep_id, point)
    where sweep_id = $1
),
told as (  -- outcomes of the very row that stands for the cell
    select * exclude (of_shard), of_shard as shard from outcomes_bends
)
select columns(lambda name: name not in (
    'step', 'loss', 'loss_diffusion', 'loss_prior', 'loss_reconstruction', 'gradient_norm', 'gamma_0', 'gamma_1',
    'color', 'color_sd', 'size', 'size_sd', 'found', 'color_right', 'size_right', 'samples', 'recorded',
    'trained_color', 'trained_color_sd', 'trained_size', 'trained_size_sd'
))
from here
join diffusion using (cell_id)
left join told using (cell_id, shard)
where status in ('ok', 'diverged', 'failed')
order by point, seed
