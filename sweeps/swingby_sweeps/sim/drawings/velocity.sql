-- Single runs, one row each, whole: the velocity of the entries of W split by eq 4.3 (row-major, s x s), at every recorded step.
-- $1 is the sweep's id; $2 and $3 are points and seeds, in pairs.
with asked as (
    select unnest($2) as point, unnest($3) as seed
)
select
    members.point, sim.seed, sim.s, sim.a, sim.time_per_step,
    sim.step, sim.growth, sim.suppression, sim.noise
from members
join sim using (cell_id)
join asked on asked.point = members.point and asked.seed = sim.seed
where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and sim.growth is not null
order by members.point, sim.seed
