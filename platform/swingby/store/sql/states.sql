-- Of each cell in `asked`: whether a result has every token, and whether a failure has those of `failing`.
select asked.place, bool_or(status in ('ok', 'diverged') and list_has_all(recorded, $tokens)) as done,
       bool_or(status = 'failed' and list_has_all(recorded, $failing)) as failed
from ix.rows.{table} r join asked using (cell_id)
where final and not {retracted} and not {lost} group by asked.place
