-- Predictions and measurements, a row a time or rate: `kind` is arrival (steps), major or minor (rates), `i` and `j` are concepts
-- counted from 1 (equal, but for minor entries), `last`: one of them is predicted to arrive last, `steps`: the length of the run,
-- `r2`: of the fit of a minor entry. Runs that diverged are left out, and rates without a fit. $1 is the sweep's id.
with compared as (
    select
        members.point, sim.seed, sim.s, sim.steps, 1 + expected.predicted_order[-1] as latest, expected.*,
        measured.* exclude (cell_id, of_shard)
    from members
    join sim using (cell_id)
    join outcomes_theory as expected on expected.cell_id = sim.cell_id and expected.of_shard = sim.shard
    join outcomes_descents as measured on measured.cell_id = sim.cell_id and measured.of_shard = sim.shard
    where members.sweep_id = $1 and expected.a_p is not null and sim.status = 'ok'
),
arrivals as (
    select
        point, seed, steps, latest,
        unnest(range(1, s + 1)) as i,
        unnest(predicted_t90) as predicted,
        unnest(measured_t90) as measured
    from compared where measured_t90 is not null
),
majors as (
    select
        point, seed, latest,
        unnest(range(1, s + 1)) as i,
        unnest(terminal_predicted) as predicted,
        unnest(terminal_rate) as measured
    from compared where terminal_predicted is not null
),
minors as (
    select
        point, seed, latest,
        unnest(flatten(list_transform(range(1, s), lambda i: list_transform(range(i + 1, s + 1), lambda j: [i, j])))) as pair,
        unnest(minor_predicted) as predicted,
        unnest(minor_rate) as measured,
        unnest(minor_r2) as r2
    from compared where minor_predicted is not null
)
select 'arrival' as kind, point, seed, i, i as j, i = latest as last, predicted, measured, steps, null as r2
from arrivals
union all
select 'major', point, seed, i, i, i = latest, predicted, measured, null, null
from majors
where predicted is not null and measured is not null
union all
select 'minor', point, seed, pair[1], pair[2], list_contains(pair, latest), predicted, measured, null, r2
from minors
where predicted is not null and measured is not null
order by kind, point, seed, i, j
