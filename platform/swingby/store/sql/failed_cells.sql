select m.point, e.message, e.cell_id, epoch(s.finished) as finished
from members m join {table} e using (cell_id) join shards s on s.shard = e.shard
where m.sweep_id = ? and e.status = 'failed' order by e.cell_id
