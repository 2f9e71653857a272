-- The points of a sweep of which it has cells: how many, and the parameters.
select m.point, m.planned, c.* exclude (cell_id, seed, seed_mode)
from (select point, count(*) as planned, min(cell_id) as cell_id from members where sweep_id = ? group by point) m
join ix.cells.{table} c using (cell_id) order by m.point
