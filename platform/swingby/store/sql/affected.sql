-- Of the cells in `fresh`, which got rows just now or lost some: those with anything but one final row from step 0 that
-- was not taken back. For these something must be chosen.
select cell_id from ix.rows.{table} r semi join fresh using (cell_id)
group by cell_id having count(*) > 1 or not bool_and(final and from_step = 0
  and not exists (select 1 from ix.retracted t where t.cell_id = r.cell_id and t.shard = r.shard))
