-- Which plans computed the cells of the sweep, with which code, where and when; cells shared with other sweeps included.
-- $1 is the sweep's id, $2 its experiment, which may say by what engine a cell was trained.
with cells as (
    select columns(lambda name: name in ('cell_id', 'shard', 'engine')) from query_table($2)
    union all by name
    select null::varchar as engine where false
), code as (  -- plans of one name may come from several folders that were merged; their shards tell only the name
    select
        split_part(plan_id, '+', 1) as plan_id,
        string_agg(distinct git_commit, ' or ' order by git_commit) as git_commit, bool_or(git_dirty) as git_dirty
    from plans
    group by 1
)
select
    plans.plan_id, plans.sweep_id, plans.name, plans.stream_version,
    code.git_commit, code.git_dirty, plans.created,
    count(*) as cells,
    string_agg(distinct shards.host, ', ' order by shards.host) as hosts,
    string_agg(distinct shards.device, ', ' order by shards.device) as devices,
    string_agg(distinct cells.engine, ', ' order by cells.engine) as engines,
    min(shards.started) as started, max(shards.finished) as finished,
    any_value(plans.provenance) as provenance
from members
join cells using (cell_id)
join shards on shards.shard = cells.shard
join plans on plans.plan_id = shards.plan_id
join code on code.plan_id = plans.plan_id
where members.sweep_id = $1
group by all
order by plans.created
