-- The last value of each of the curves $3 of the cells of a sweep, one row a cell. $1 is the sweep's id, $2 its experiment.
select cell_id, columns(lambda name: list_contains($3, name))[-1] as "final_\0"
from query_table($2)
where cell_id in (select cell_id from members where sweep_id = $1) and status in ('ok', 'diverged')
