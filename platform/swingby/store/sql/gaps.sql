-- The cells that lack a piece of their curve and have no result, with the sweeps that have them.
select cell_id, (select list(distinct s.name order by s.name)
                 from members m join sweeps s using (sweep_id) where m.cell_id = x.cell_id) as sweeps
from (select distinct cell_id from ix.lost where experiment = {name}) x
where not exists (select 1 from {table} e where e.cell_id = x.cell_id and e.status <> 'running')
order by cell_id
