-- Cells of a sweep with a final row, by status.
select e.status, count(*) as cells from members m join {table} e using (cell_id)
where m.sweep_id = ? and e.status <> 'running' group by e.status
