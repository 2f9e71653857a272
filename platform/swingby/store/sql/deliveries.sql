-- Cells of a sweep with a final row, by the shard that brought it.
with ended as (
  select e.status, e.shard, count(*) as cells from members m join {table} e using (cell_id)
  where m.sweep_id = ? and e.status <> 'running' group by all)
select status, ended.cells, coalesce(host, '') as host, coalesce(pid, 0) as pid, epoch(finished) as finished
from ended left join shards using (shard)
