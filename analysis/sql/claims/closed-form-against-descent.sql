-- Of every seed: does full-batch gradient descent on one layer without bias follow the theorem's closed form on the
-- moments of the same points, within 1 % of ||x^|| at every recorded step? What is left is the length of a step. Rows
-- by mu.
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
),
pairs as (
    select
        gd.convention, gd.seed, gd.mu, gd.time_per_step, gd.a,
        list_max(list_transform(
            list_zip(gd.output, theory.output),
            lambda pair: sqrt((pair[1][1] - pair[2][1]) ** 2 + (pair[1][2] - pair[2][2]) ** 2)
        )) / sqrt(2 * gd.l_ref) as off
    from runs gd join runs theory using (convention, seed, mu, sigma, zero_cluster, reduction, lr)
    where gd.drive = 'gd' and not gd.bias and theory.drive = 'closed_form' and theory.moments = 'sample'
    and gd.step = theory.step
)
select
    convention,
    format('mu = {}; a step is {:.3g} of the fastest rate', mu, max(time_per_step * list_max(a))) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.01) as k,
    format(
        'largest distance {:.3f} % of ||x^|| (median seed), {:.3f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from pairs
group by convention, mu
order by convention, mu
