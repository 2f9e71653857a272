-- A row if a sweep may read another row of a cell than the experiment's table shows: some cell has several recordings,
-- or some shard does not record all that some sweep asks for.
select 1 from ix.spare.{table}
union all
select 1
from (select distinct list_filter(recording, lambda token: not starts_with(token, 'code:')) as asked
      from ix.plans where experiment = {name}) p
join (select distinct recorded from ix.shards where experiment = {name}) s
  on not list_has_all(s.recorded, p.asked)
     and len(list_filter(s.recorded, lambda token: starts_with(token, 'steps:'))) > 0
limit 1
