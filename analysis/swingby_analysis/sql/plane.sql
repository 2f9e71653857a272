-- The median over the seeds, at every point and at about $4 of the recorded steps, of entries $7 and $8 (counted from 1) of a
-- curve of vectors, each over the same entry of its unit. Of more than $3 runs at a point, those of the first $3 seeds. $1 is
-- the sweep's id, $2 its experiment, $5 the curve, $6 the column of its unit ('ones' for none).
with cells as (
    select *, list_resize([1.0::double], greatest($7, $8), 1.0) as ones from query_table($2)
),
chosen as (
    select members.point, cells.cell_id
    from members join cells using (cell_id)
    where members.sweep_id = $1 and cells.status in ('ok', 'diverged')
    qualify row_number() over (partition by members.point order by cells.seed, cells.cell_id) <= $3
),
asked as (
    select
        cell_id, steps, status, step,
        columns(lambda name: name = $5) as value,
        columns(lambda name: name = $6) as unit
    from cells
),
runs as (
    select chosen.point, asked.* exclude (cell_id)
    from chosen join asked on asked.cell_id = chosen.cell_id
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
places as (  -- the first record in each of $4 bins of log(1 + step), and the last one
    select step, last_step, list_filter(range(1, len(step) + 1), lambda i:
        step[i] = 0 or step[i] = last_step
        or floor($4 * ln(1 + step[i]) / ln(1 + last_step))
            > floor($4 * ln(1 + coalesce(step[i - 1], -1)) / ln(1 + last_step))
    ) as kept
    from grids
),
entries as (
    select
        runs.point, runs.unit, points.runs, points.ended,
        unnest(list_select(runs.step, places.kept)) as step,
        unnest(list_select(runs.value, places.kept)) as value
    from runs join points using (point) join places on places.step = runs.step and places.last_step = points.last_step
),
kept as (
    select * exclude (ended), len(list_filter(ended, lambda last: last < step)) as ended
    from entries
)
select
    point, step,
    median(value[$7] / nullif(unit[$7], 0)) filter (where isfinite(value[$7])) as x,
    median(value[$8] / nullif(unit[$8], 0)) filter (where isfinite(value[$8])) as y
from kept
group by point, step
having count(*) + any_value(ended) = any_value(runs)  -- steps that every run of the point recorded, or did not live to see
order by point, step
