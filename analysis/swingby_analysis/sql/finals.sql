-- The last value that there is of each of the curves $3 of the cells of a sweep, one row a cell. $1 is the sweep's id, $2 its experiment.
select cell_id, list_filter(columns(lambda name: list_contains($3, name)), lambda one: one is not null)[-1] as "final_\0"
from query_table($2)
where cell_id in (select cell_id from members where sweep_id = $1) and status in ('ok', 'diverged')
