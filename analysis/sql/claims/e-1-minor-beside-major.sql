-- Of every seed: is the minor entry of W(0) smaller in size than a tenth of the major one, |w_12(0)| < 0.1 w_11(0)? E.1
-- says that they part as d' grows. Rows by d'.
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
starts as (
    select
        convention, seed, init, width, init_gain, init_gain / sqrt(width) as tau,
        jacobian[1][1] as w_11, jacobian[1][2] as w_12, jacobian[1][4] as w_22
    from runs
    where model = 'symmetric' and s = 2 and init = 'normal'
)
select
    convention, format('U normal, d'' = {}, tau = {:.3g}', width, tau) as setting,
    count(*) as n,
    count(*) filter (where abs(w_12) < 0.1 * w_11) as k,
    format('|w_12| / w_11 = {:.3f} (median seed)', median(abs(w_12) / w_11)) as measured
from starts
group by convention, width, tau
order by convention, width
