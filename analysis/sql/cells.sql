-- One row a cell that has come to an end: its point of the grid and its preset, parameters, status, scalars, and what the detectors say of it.
-- $1 is the sweep's id.
with here as (
    select point, cell_id, preset
    from members join conventions using (sweep_id, point)
    where sweep_id = $1
),
told as (  -- outcomes of the very row that stands for the cell
    select * exclude (of_shard), of_shard as shard from outcomes_descents
),
expected as (
    select * exclude (of_shard), of_shard as shard from outcomes_theory
)
select columns(lambda name: name not in (
    'step', 'ood_loss', 'train_loss', 'output', 'jacobian', 'hierarchy_loss', 'centre_output', 'growth', 'suppression', 'noise',
    'recorded', 'init_weights', 'training_point'
))
from here
join sim using (cell_id)
left join told using (cell_id, shard)
left join expected using (cell_id, shard)
where status in ('ok', 'diverged', 'failed')
order by point, seed
