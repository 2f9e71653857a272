-- Which plans computed the cells of the sweep, with which code, where and when; cells shared with other sweeps included.
-- $1 is the sweep's id.
select
    plans.plan_id, plans.sweep_id, plans.name,
    plans.git_commit, plans.git_dirty, plans.created,
    count(*) as cells,
    string_agg(distinct shards.host, ', ' order by shards.host) as hosts,
    string_agg(distinct diffusion.engine, ', ' order by diffusion.engine) as engines,
    min(shards.started) as started, max(shards.finished) as finished,
    any_value(plans.provenance) as provenance
from members
join diffusion on diffusion.cell_id = members.cell_id
join shards on shards.shard = diffusion.shard
join plans on plans.plan_id = shards.plan_id
where members.sweep_id = $1
group by all
order by plans.created
