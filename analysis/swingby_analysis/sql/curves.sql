-- The curves of every grid point over its seeds, at about $2 of the recorded steps: for both losses, in units of L_ref, the
-- median, and the 10 % and 90 % quantiles (values that occur); for the output of concepts $3 and $4 (counted from 1), over
-- their mu, the median. A loss that is not finite, and any loss of a run that ended by diverging, counts as larger than
-- all others. Of more than $5 runs at a point, those of the first $5 seeds. $1 is the sweep's id.
with chosen as (
    select members.point, sim.cell_id
    from members join sim on sim.cell_id = members.cell_id
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
    qualify row_number() over (partition by members.point order by sim.seed, sim.cell_id) <= $5
),
runs as (
    select
        chosen.point, sim.l_ref, sim.mu, sim.steps, sim.status, sim.step, sim.ood_loss, sim.train_loss, sim.output
    from chosen join sim on sim.cell_id = chosen.cell_id
),
points as (
    select
        point, count(*) as runs, max(steps) as last_step,
        coalesce(list(steps) filter (where status = 'diverged'), []) as ended
    from runs
    group by point
),
grids as (  -- most runs share their recorded steps
    select distinct step, last_step from runs join points using (point)
),
places as (  -- the first record in each of $2 bins of log(1 + step), and the last one
    select step, last_step, list_filter(range(1, len(step) + 1), lambda i:
        step[i] = 0 or step[i] = last_step
        or floor($2 * ln(1 + step[i]) / ln(1 + last_step))
            > floor($2 * ln(1 + coalesce(step[i - 1], -1)) / ln(1 + last_step))
    ) as kept
    from grids
),
entries as (
    select
        runs.point, runs.l_ref, runs.mu, points.runs, points.ended,
        unnest(list_select(runs.step, places.kept)) as step,
        unnest(list_select(runs.ood_loss, places.kept)) as ood_loss,
        unnest(list_select(runs.train_loss, places.kept)) as train_loss,
        unnest(list_select(runs.output, places.kept)) as output
    from runs join points using (point) join places on places.step = runs.step and places.last_step = points.last_step
),
kept as (
    select * exclude (ended), len(list_filter(ended, lambda last: last < step)) as ended
    from entries
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
