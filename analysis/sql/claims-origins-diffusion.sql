-- The sweeps on diffusion behind the claims: cells, seeds, and what they took. $1 is the list of their ids.
select
    sweeps.name, sweeps.sweep_id,
    count(*) as cells,
    count(distinct diffusion.seed) as seeds,
    count(*) filter (where diffusion.status = 'diverged') as diverged,
    format('{:.1f} s', sum(diffusion.seconds)) as training
from sweeps
join members using (sweep_id)
join diffusion using (cell_id)
where list_contains($1, sweeps.sweep_id)
group by sweeps.name, sweeps.sweep_id
order by sweeps.name
