-- The recordings of which the cells in `asked` have results, and of how many cells.
select list_filter(recorded, lambda token: not starts_with(token, 'code:')) as recording,
       count(distinct cell_id) as cells
from ix.rows.{table} r semi join asked using (cell_id)
where final and status in ('ok', 'diverged') and not {retracted} and not {lost}
group by all order by cells desc, recording
