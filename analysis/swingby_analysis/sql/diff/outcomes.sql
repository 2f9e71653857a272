-- What one version of a detector says of the cells of the sweep, each time of the row that a shard holds of a cell.
-- $1 is the sweep's id, $2 the detector's table, $3 its version, $4 the columns to read.
select columns(lambda name: list_contains($4, name))
from query_table($2)
where version = $3 and cell_id in (select cell_id from members where sweep_id = $1)
