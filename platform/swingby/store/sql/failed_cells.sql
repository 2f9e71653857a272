select e.cell_id, e.message from members m join {table} e using (cell_id)
where m.sweep_id = ? and e.status = 'failed' order by e.cell_id limit ?
