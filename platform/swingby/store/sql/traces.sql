-- How many rows of a sweep's cells each shard has.
select r.shard, count(*) as "rows" from members m join ix.rows.{table} r using (cell_id)
where m.sweep_id = ? and not {retracted} group by r.shard
