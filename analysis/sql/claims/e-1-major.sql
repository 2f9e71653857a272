-- E.1: is the mean of a major entry of W(0) d' tau^2, where U has d' columns of entries N(0, tau^2)? A statement about
-- all seeds together: it holds (k = n) if the mean of w_11 lies within 2.58 standard errors of it, else not (k = 0).
-- Rows by d'.
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
    case when abs(avg(w_11) - any_value(width * tau ** 2)) <= 2.58 * stddev_samp(w_11) / sqrt(count(*)) then count(*) else 0 end as k,
    format(
        'mean w_11 {:.4f}, d'' tau^2 = {:.4f}, standard error {:.4f}', avg(w_11), any_value(width * tau ** 2),
        stddev_samp(w_11) / sqrt(count(*))
    ) as measured
from starts
group by convention, width, tau
order by convention, width
