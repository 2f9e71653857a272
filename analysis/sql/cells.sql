-- One row a cell that has come to an end: its point of the grid, parameters, status, scalars, and what the detector says of it.
-- $1 is the sweep's id.
with here as (
    select point, cell_id from members where sweep_id = $1
)
select columns(lambda name: name not in (
    'step', 'ood_loss', 'train_loss', 'output', 'jacobian', 'hierarchy_loss', 'centre_output', 'recorded', 'init_weights'
))
from here
join sim using (cell_id)
left join outcomes_descents using (cell_id)
where status in ('ok', 'diverged', 'failed')
order by point, seed
