-- One row a cell that has come to an end: its point of the grid and its preset, seed, status, parameters, and scalars.
-- $1 is the sweep's id, $2 its experiment, $3 the columns to read.
select members.point, conventions.preset, ends.*
from members
join conventions using (sweep_id, point)
join (select columns(lambda name: list_contains($3, name)) from query_table($2)) ends using (cell_id)
where members.sweep_id = $1 and ends.status in ('ok', 'diverged', 'failed')
order by members.point, ends.seed, ends.cell_id
