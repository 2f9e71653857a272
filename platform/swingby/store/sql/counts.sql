-- Cells by status, of every sweep of an experiment.
select m.sweep_id, e.status, count(*) as cells, max(e.{last_step}) as furthest, sum(e.{last_step}) as steps
from members m join {table} e using (cell_id) group by all
