-- The results of a sweep by plan and batch: whether a row is a whole shape, and whether it is a recorded result.
select s.plan_id, s.batch, s.shape = $whole as whole, count(*) as cells, any_value(p.provenance) as provenance,
       len(e.recorded) = 0 as recorded
from members m join {table} e using (cell_id) join shards s on s.shard = e.shard
left join plans p using (plan_id)
where m.sweep_id = $sweep and e.status in ('ok', 'diverged')
group by all order by all
