-- What the verdicts on an experiment rest on: sweeps, cells, seeds a sweep, and when the last cell was trained. The ids
-- of the sweeps stand in the claims' queries. $1 is the experiment.
with asked as (
    select distinct unnest(regexp_extract_all(query, '''([0-9a-f]{16})''', 1)) as sweep_id from claims_queries
),
cells as (
    select sweep_id, cell_id, trained.seed, shards.finished
    from asked
    join members using (sweep_id)
    join query_table($1) trained using (cell_id)
    join shards using (shard)
),
seeds as (
    select sweep_id, count(distinct seed) as seeds from cells group by sweep_id
)
select
    count(distinct sweep_id) as sweeps, count(distinct cell_id) as cells,
    (select min(seeds) from seeds) as fewest, (select max(seeds) from seeds) as most,
    strftime(max(finished), '%Y-%m-%d') as trained
from cells
