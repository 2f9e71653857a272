-- One row a cell that has come to an end: its point of the grid and its preset, parameters, status, scalars, and what the detectors say of it.
-- $1 is the sweep's id, $2 its experiment, $3 the tables of outcomes, $4 the columns that are left out: curves and matrices.
with here as (
    select point, cell_id, preset
    from members join conventions using (sweep_id, point)
    where sweep_id = $1
),
outcomes as (  -- of the very row that stands for the cell, all detectors in one row
    select cell_id, of_shard as shard, any_value(columns(lambda name: name not in ('cell_id', 'of_shard'))) as "\0"
    from query_table($3, true)
    where cell_id in (select cell_id from here)
    group by cell_id, of_shard
)
select columns(lambda name: not list_contains($4, name))
from here
join query_table($2) cells using (cell_id)
left join outcomes using (cell_id, shard)
where status in ('ok', 'diverged', 'failed')
order by point, seed
