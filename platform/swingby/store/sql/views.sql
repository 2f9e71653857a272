-- The views that every store has, whatever its experiments.

-- A sweep as its newest plan has it: what is trained is the same in all, how it is shown may differ. A sweep that is
-- refined has fewer cells than its grid. Of one that was deleted a plan may be left, without cells: it says where results
-- come from that another sweep needs. A sweep that was renamed has its new name here, and in `plans` that of its file.
create view sweeps as
with asked as (select sweep_id, count(*) as cells from ix.members group by sweep_id)
select sweep_id, coalesce(renamed.name, plans.name) as name, experiment, title, asked.cells as cells,
    cast(cast(json_extract(resolved, '$.points') as bigint) * json_array_length(resolved, '$.seeds') as bigint) as grid_cells,
    created, stream_version, recording,
    case when renamed.name is null then resolved
        else cast(json_merge_patch(resolved, json_object('name', renamed.name)) as varchar) end as resolved
from ix.plans join asked using (sweep_id) left join {renamed} as renamed using (sweep_id)
qualify row_number() over (partition by sweep_id order by sequence desc, created desc, plan_id) = 1;

-- The preset of every point of every sweep: the sweep's own, or what its axis says.
create view conventions as
with named as (
    select sweep_id, cast(json_extract(resolved, '$.points') as bigint) as points,
        json_extract_string(resolved, '$.preset') as preset,
        from_json(json_extract(resolved, '$.presets'), '["VARCHAR"]') as presets
    from sweeps)
select sweep_id, unnest(range(points)) as point,
    unnest(coalesce(presets, list_resize([preset], points, preset))) as preset
from named;

create view plans as select * from ix.plans;
create view members as select * from ix.members;
create view shards as select * from ix.shards;
create view bad_shards as select shard, reason from ix.bad;

-- A row a result that was taken back: a cell's rows in one shard, and by which record.
create view retractions as
select t.cell_id, t.shard, r.reason, r.sweep_id, r.sweep, r.who, r.host, r.command, r.created, r.record
from ix.retracted t join ix.retractions r using (record);
