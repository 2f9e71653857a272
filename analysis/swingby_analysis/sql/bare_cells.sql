-- One row a cell that has come to an end, as `cells.sql`, of an experiment whose cells no detector has looked at.
-- $1 is the sweep's id, $2 its experiment, $3 the columns that are left out: curves and matrices.
with here as (
    select point, cell_id, preset
    from members join conventions using (sweep_id, point)
    where sweep_id = $1
)
select columns(lambda name: not list_contains($3, name))
from here join query_table($2) cells using (cell_id)
where status in ('ok', 'diverged', 'failed')
order by point, seed
