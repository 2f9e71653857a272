-- Where the cells of these sweeps come from: trained here or recorded results, where, when, by which engine (where the
-- experiment says so), and in how many seconds (where it measures them). $1 is the list of their ids, $2 their experiment.
with trained as (
    select columns(lambda name: name in ('cell_id', 'seed', 'shard', 'status', 'recorded', 'engine', 'seconds'))
    from query_table($2)
    union all by name
    select null::varchar as engine, null::double as seconds where false
),
cells as (
    select
        sweeps.name, sweeps.sweep_id, len(trained.recorded) = 0 as recorded, trained.seed, trained.status, trained.engine,
        trained.seconds, shards.host, shards.finished, shards.plan_id
    from sweeps
    join members using (sweep_id)
    join trained using (cell_id)
    join shards using (shard)
    where list_contains($1, sweep_id)
)
select
    cells.name, cells.sweep_id, recorded, count(*) as cells, count(distinct seed) as seeds,
    count(*) filter (where status = 'diverged') as diverged,
    string_agg(distinct host, ', ' order by host) as hosts, string_agg(distinct engine, ', ' order by engine) as engines,
    strftime(min(finished), '%Y-%m-%d') as first_day, strftime(max(finished), '%Y-%m-%d') as last_day,
    sum(seconds) as seconds, string_agg(distinct left(git_commit, 8), ', ' order by left(git_commit, 8)) as commits
from cells left join plans using (plan_id)
group by cells.name, cells.sweep_id, recorded
order by cells.name, recorded
