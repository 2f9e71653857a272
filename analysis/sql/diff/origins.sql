-- Which plans computed the cells of the sweep, with which code, where and when; cells shared with other sweeps included.
-- $1 is the sweep's id, $2 its experiment.
select
    plans.name, plans.plan_id, plans.stream_version, plans.git_commit, plans.git_dirty,
    count(*) as cells,
    string_agg(distinct shards.host, ', ' order by shards.host) as hosts,
    string_agg(distinct shards.device, ', ' order by shards.device) as devices,
    min(shards.started) as started, max(shards.finished) as finished
from members
join (select cell_id, shard from query_table($2)) here using (cell_id)
join shards on shards.shard = here.shard
join plans on plans.plan_id = shards.plan_id
where members.sweep_id = $1
group by all
order by plans.plan_id
