-- Cells by status, of every sweep of an experiment.
select m.sweep_id, e.status, count(*) as cells, max(e.steps) as furthest, sum(e.steps) as steps
from members m join {table} e using (cell_id) group by all
