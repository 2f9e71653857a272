-- For every run, the distance from the test point to its nearest training point. For a truncated run also whether a point was drawn
-- again: known where the store has its training set without truncation. For the run of seed $3[i] at point $2[i], which is drawn,
-- also the recorded training points, the nearest first. $1 is the sweep's id.
with whole as (  -- training sets without truncation, by all parameters that they depend on
    select
        seed, d, s, n, mu, sigma, sigma_is, zero_cluster,
        bool_or(list_distance(training_point[1], mu) < list_min(mu) / 2) as again
    from sim
    where not truncate and seed_mode = 'common' and moments <> 'population' and len(training_point) > 0
    group by all
)
select
    members.point, sim.seed, sim.mu, sim.truncate,
    list_distance(sim.training_point[1], sim.mu) as nearest,
    case when sim.truncate and sim.seed_mode = 'common' then whole.again end as again,
    case when $3[list_position($2, members.point)] = sim.seed then sim.training_point end as training_point
from members
join sim on sim.cell_id = members.cell_id
left join whole
    on whole.seed = sim.seed and whole.d = sim.d and whole.s = sim.s and whole.n = sim.n and whole.mu = sim.mu
    and whole.sigma = sim.sigma and whole.sigma_is = sim.sigma_is and whole.zero_cluster = sim.zero_cluster
where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and len(sim.training_point) > 0
order by members.point, sim.seed
