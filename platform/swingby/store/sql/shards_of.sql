-- The shards that hold rows of the cells in `asked` with these tokens.
select distinct cell_id, shard from ix.rows.{table} r semi join asked using (cell_id)
where list_has_all(recorded, ?) and not {retracted} order by all
