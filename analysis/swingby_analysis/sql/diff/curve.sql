-- Some columns (a curve, and the steps it was recorded at) of some cells of a sweep, as it recorded them.
-- $1 is the experiment, $2 the cells, $3 the columns to read, $4 the sweep's id.
select columns(lambda name: list_contains($3, name))
from query_table($1)
where cell_id in (select unnest($2) intersect select cell_id from members where sweep_id = $4)
