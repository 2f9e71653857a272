-- How many cells of the sweep have rows, but no end yet.
-- $1 is the sweep's id, $2 its experiment.
select count(*) as cells
from members
join (select cell_id, status from query_table($2)) here using (cell_id)
where members.sweep_id = $1 and here.status = 'running'
