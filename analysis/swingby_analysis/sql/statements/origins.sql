-- Where the cells of these sweeps come from: trained here or recorded results; where, and when. $1 is
-- the list of their ids, $2 their experiment.
with cells as (
    select
        sweeps.name, sweeps.sweep_id, len(trained.recorded) = 0 as recorded, trained.status, shards.host, shards.finished,
        shards.plan_id, trained.engine, trained.seconds
    from sweeps
    join members using (sweep_id)
    join query_table($2) trained using (cell_id)
    join shards using (shard)
    where list_contains($1, sweep_id)
)
select
    cells.name, cells.sweep_id, recorded, count(*) as cells, count(*) filter (where status = 'diverged') as diverged,
    string_agg(distinct host, ', ' order by host) as hosts, string_agg(distinct engine, ', ' order by engine) as engines,
    strftime(min(finished), '%Y-%m-%d') as first_day, strftime(max(finished), '%Y-%m-%d') as last_day,
    sum(seconds) as seconds, string_agg(distinct left(git_commit, 8), ', ') as commits
from cells left join plans using (plan_id)
group by cells.name, cells.sweep_id, recorded
order by cells.name, recorded
