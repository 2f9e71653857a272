-- The row that each sweep reads of each of its cells: of those that record all that the sweep asks for, the first result;
-- else one that says nothing of when it was recorded, as imported and recorded results do; else a failure; else the
-- latest attempt. A row of any other recording is none of the sweep's, so that no run of another sweep changes this.
select m.sweep_id, m.cell_id, r.curve, r.shard, r.final, r.status, s.finished, {fineness} as fineness
from ix.members m
join (select p.sweep_id, s.shard, s.finished, list_has_all(s.recorded, p.asked) as serves
      from (select sweep_id, any_value(list_filter(recording, lambda token: not starts_with(token, 'code:'))) as asked
            from ix.plans where experiment = {name} group by sweep_id) p
      join ix.shards s on s.experiment = {name} and (
        list_has_all(s.recorded, p.asked)
        or len(list_filter(s.recorded, lambda token: starts_with(token, 'steps:'))) = 0)) s
  on s.sweep_id = m.sweep_id
join ix.rows.{table} r on r.cell_id = m.cell_id and r.shard = s.shard
where {{which}} and not exists (select 1 from ix.dropped.{table} x where x.curve = r.curve)
qualify row_number() over (
  partition by m.sweep_id, m.cell_id
  order by r.final desc, r.status is not distinct from 'failed', s.serves desc,
           case when r.final then 0 else -r.attempt end, case when r.final then s.finished end,
           case when r.final then 0 else -r.to_step end, r.shard, r.place) = 1