-- One row a cell that has come to an end: its point of the grid and its preset, parameters, status, scalars, and what the detectors say of it.
-- $1 is the sweep's id, $2 its experiment, $3 the columns that are left out: curves and matrices; each table of outcomes is joined.
with here as (
    select point, cell_id, preset
    from members join conventions using (sweep_id, point)
    where sweep_id = $1
)
select columns(lambda name: not list_contains($3, name))
from here
join query_table($2) cells using (cell_id)
left join (select of_shard as shard, * exclude (of_shard) from outcomes) using (cell_id, shard)
where status in ('ok', 'diverged', 'failed')
order by point, seed
