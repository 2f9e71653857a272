-- Of every seed: does the growth term of eq 4.2 alone describe an SGD run on one layer, that is, can the noise term be
-- left out at the initialisation used? Largest distance of the output from the growth term, over records and points: at
-- most 5 % of ||x^||.
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
entries as (
    select
        convention, seed, bias, d, reduction, mu, a, l_ref, jacobian[1] as w0,
        unnest(step) * time_per_step as t,
        unnest(output) as f
    from runs
    where model = 'one_layer' and drive = 'sgd'
),
terms as (  -- eq 4.2 for the first two concepts; w0 is row-major, row = output
    select
        *,
        [(1 - exp(-a[1] * t)) * mu[1], (1 - exp(-a[2] * t)) * mu[2]] as growth,
        [
            exp(-a[1] * t) * w0[1] * mu[1] + exp(-a[2] * t) * w0[2] * mu[2],
            exp(-a[1] * t) * w0[3] * mu[1] + exp(-a[2] * t) * w0[4] * mu[2]
        ] as noise,
        [abs(w0[1]) * mu[1] + abs(w0[2]) * mu[2], abs(w0[3]) * mu[1] + abs(w0[4]) * mu[2]] as bound
    from entries
),
seeds as (
    select
        convention, seed, d, bias,
        max(sqrt((f[1] - growth[1]) ** 2 + (f[2] - growth[2]) ** 2) / sqrt(2 * l_ref)) as off
    from terms
    group by convention, seed, d, bias
)
select
    convention, format('one_layer by SGD, d = {}, bias {}', d, bias) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.05) as k,
    format(
        'largest distance {:.1f} % of ||x^|| (median seed), {:.1f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from seeds
group by convention, d, bias
order by convention, bias
