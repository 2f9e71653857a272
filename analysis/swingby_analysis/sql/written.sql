-- The values of an outcome that a sweep file writes, each with the shard whose row of the cell it was computed from.
-- $1 is the sweep's id, $2 the table of the outcome's expression.
select cell_id, of_shard as shard, value
from query_table($2)
where cell_id in (select cell_id from members where sweep_id = $1)
