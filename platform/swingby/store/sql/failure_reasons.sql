-- Messages that differ in numbers only are one reason.
select arg_max(coalesce(e.message, ''), (s.finished, e.cell_id)) as message, count(*) as cells,
       epoch(max(s.finished)) as last
from members m join {table} e using (cell_id) join shards s on s.shard = e.shard
where m.sweep_id = ? and e.status = 'failed'
group by regexp_replace(coalesce(e.message, ''), '[-+]?[0-9][0-9.eE+-]*', '#', 'g')
order by last desc, cells desc, message limit ?
