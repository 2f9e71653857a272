-- The sweeps on an experiment behind the claims: cells, seeds, and what they took. $1 is the list of their ids, $2 the
-- experiment.
select
    sweeps.name, sweeps.sweep_id,
    count(*) as cells,
    count(distinct trained.seed) as seeds,
    count(*) filter (where trained.status = 'diverged') as diverged,
    format('{:.1f} s', sum(trained.seconds)) as training
from sweeps
join members using (sweep_id)
join query_table($2) trained using (cell_id)
where list_contains($1, sweeps.sweep_id)
group by sweeps.name, sweeps.sweep_id
order by sweeps.name
