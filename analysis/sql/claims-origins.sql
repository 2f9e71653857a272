-- The sweeps on SIM behind the claims: cells, seeds, and what they took. $1 is the list of their ids.
select
    sweeps.name, sweeps.sweep_id,
    count(*) as cells,
    count(distinct sim.seed) as seeds,
    count(*) filter (where sim.status = 'diverged') as diverged,
    format('{:.1f} s', sum(sim.seconds)) as training
from sweeps
join members using (sweep_id)
join sim using (cell_id)
where list_contains($1, sweeps.sweep_id)
group by sweeps.name, sweeps.sweep_id
order by sweeps.name
