select e.cell_id, e.{last_step} as steps from members m join {table} e using (cell_id)
where m.sweep_id = ? and e.status = 'running' order by e.{last_step} desc, e.cell_id limit ?
