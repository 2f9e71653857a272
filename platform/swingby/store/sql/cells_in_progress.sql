select e.cell_id, e.steps from members m join {table} e using (cell_id)
where m.sweep_id = ? and e.status = 'running' order by e.steps desc, e.cell_id limit ?
