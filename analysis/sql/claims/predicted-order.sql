-- Of every seed of which theory speaks: do the concepts arrive in the predicted order (growth from w_pp(0), and the
-- delay by suppression; one layer: Theorem 4.1), at every point of the grid at which it can be told? It cannot where
-- two arrive within one record, or two never.
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard), theory.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    left join outcomes_theory theory on theory.cell_id = sim.cell_id and theory.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
),
seeds as (
    select
        convention, model, drive, s, d, seed, bool_and(predicted_order_right) as holds, avg(times_within_tenth) as tenth
    from runs
    where predicted_order_right is not null and model <> 'w_recurrence' and drive <> 'closed_form'
    group by all
)
select
    convention, format('{}, {}, s = {}, d = {}', model, drive, s, d) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format('{:.0f} % of all times are within 10 % of their prediction', 100 * avg(tenth)) as measured
from seeds
group by convention, model, drive, s, d
order by convention, model, drive, s
