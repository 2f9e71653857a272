-- The curves of every grid point over its seeds, at about $2 of the recorded steps: for both losses, in units of L_ref, the
-- median, and the 10 % and 90 % quantiles (values that occur); for the output of concepts $3 and $4 (counted from 1), over
-- their mu, the median. A loss that is not finite, and any loss of a run that ended by diverging, counts as larger than
-- all others. $1 is the sweep's id.
with runs as (
    select
        members.point, sim.l_ref, sim.mu, sim.step, sim.ood_loss, sim.train_loss, sim.output
    from members join sim on sim.cell_id = members.cell_id
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
),
points as (
    select
        members.point, count(*) as runs, max(sim.steps) as last_step,
        coalesce(list(sim.steps) filter (where sim.status = 'diverged'), []) as ended
    from members join sim on sim.cell_id = members.cell_id
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
    group by members.point
),
entries as (
    select
        point, l_ref, mu,
        unnest(step) as step,
        unnest([-1] || step[:-2]) as step_before,
        unnest(ood_loss) as ood_loss,
        unnest(train_loss) as train_loss,
        unnest(output) as output
    from runs
),
kept as (  -- the first record in each of $2 bins of log(1 + step), and the last one
    select entries.*, points.runs, len(list_filter(points.ended, lambda last: last < entries.step)) as ended
    from entries join points using (point)
    where step = 0 or step = points.last_step
        or floor($2 * ln(1 + step) / ln(1 + points.last_step)) > floor($2 * ln(1 + step_before) / ln(1 + points.last_step))
),
seeds as (  -- steps that every run of the point recorded, or did not live to see
    select
        point, step, any_value(runs) as runs,
        list_sort(list(case when isfinite(ood_loss) then ood_loss / l_ref else 1e300 end)) as ood,
        list_sort(list(case when isfinite(train_loss) then train_loss / l_ref else 1e300 end)) as training,
        median(output[$3] / nullif(mu[$3], 0)) filter (where isfinite(output[$3])) as x,
        median(output[$4] / nullif(mu[$4], 0)) filter (where isfinite(output[$4])) as y
    from kept
    group by point, step
    having count(*) + any_value(ended) = any_value(runs)
),
whole as (
    select point, step, runs, list_resize(ood, runs, 1e300) as ood, list_resize(training, runs, 1e300) as training, x, y
    from seeds
)
select
    point, step, runs,
    [
        ood[(runs + 1) // 2] / 2 + ood[(runs + 2) // 2] / 2,
        ood[greatest(1, ceil(0.1 * runs)::integer)],
        ood[ceil(0.9 * runs)::integer]
    ] as ood,
    [
        training[(runs + 1) // 2] / 2 + training[(runs + 2) // 2] / 2,
        training[greatest(1, ceil(0.1 * runs)::integer)],
        training[ceil(0.9 * runs)::integer]
    ] as training,
    x, y
from whole
order by point, step
