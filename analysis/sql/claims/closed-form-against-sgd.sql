-- Of every seed: does mini-batch SGD on one layer without bias follow the theorem's closed form, run as a drive of its
-- own from the same weights (on the moments of the population, as printed), within 5 % of ||x^|| at every recorded
-- step? Rows by mu: the step lr a_k grows with it.
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
        sgd.convention, sgd.seed, sgd.mu, sgd.lr, sgd.time_per_step, sgd.a,
        list_max(list_transform(
            list_zip(sgd.output, theory.output),
            lambda pair: sqrt((pair[1][1] - pair[2][1]) ** 2 + (pair[1][2] - pair[2][2]) ** 2)
        )) / sqrt(2 * sgd.l_ref) as off
    from runs sgd join runs theory using (convention, seed, mu, sigma, zero_cluster, reduction, lr)
    where sgd.drive = 'sgd' and not sgd.bias and theory.drive = 'closed_form' and theory.moments = 'population'
        and sgd.step = theory.step
)
select
    convention,
    format('mu = {}; a step is {:.3g} of the fastest rate', mu, max(time_per_step * list_max(a))) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.05) as k,
    format(
        'largest distance {:.2f} % of ||x^|| (median seed), {:.2f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from pairs
group by convention, mu
order by convention, mu
