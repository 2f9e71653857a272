-- Entries $7 (counted from 1) of a curve of vectors at every point over its seeds, at about $4 of the recorded steps, each in
-- its unit; a curve of numbers has the one entry 1. `value`: the median, the 10 % and 90 % quantiles, and the quartiles (values
-- that occur), where a value that is not finite, and any of a run that ended by diverging, counts as larger than all others. `finite`: the
-- median of the finite values. Of more than $3 runs at a point, those of the first $3 seeds. $1 is the sweep's id, $2 its
-- experiment, $5 the curve, $6 the column of its unit ('ones' for none), $8 that of a run's last step.
with cells as (
    select *, list_resize([1.0::double], list_max($7::integer[]), 1.0) as ones from query_table($2)
),
chosen as (
    select members.point, cells.cell_id
    from members join cells using (cell_id)
    where members.sweep_id = $1 and cells.status in ('ok', 'diverged')
    qualify row_number() over (partition by members.point order by cells.seed, cells.cell_id) <= $3
),
asked as (
    select
        cell_id, status, step,
        columns(lambda name: name = $8) as steps,
        columns(lambda name: name = $5) as value,
        columns(lambda name: name = $6) as unit
    from cells
),
runs as (  -- a step at which a run has no value of this curve is none that it recorded
    select
        chosen.point, status, steps, unit,
        case when sparse then list_where(step, there) else step end as step,
        case when sparse then list_where(value, there) else value end as value
    from (
        select *, list_count(value) < len(value) as sparse, list_transform(value, lambda one: one is not null) as there
        from asked
    ) as asked
    join chosen on asked.cell_id = chosen.cell_id
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
records as (
    select
        runs.point, runs.unit, points.runs, points.ended,
        unnest(list_select(runs.step, places.kept)) as step,
        unnest(list_select(runs.value, places.kept)) as value
    from runs join points using (point) join places on places.step = runs.step and places.last_step = points.last_step
),
vectors as (  -- a number is a vector of one entry
    select
        point, step, runs, len(list_filter(ended, lambda last: last < step)) as ended,
        case when typeof(value) like '%[]' then try_cast(value as double[]) else [try_cast(value as double)] end as value,
        case when typeof(unit) like '%[]' then try_cast(unit as double[]) else [try_cast(unit as double)] end as unit
    from records
),
entries as (
    select point, step, runs, ended, entry, value[entry] as value, value[entry] / nullif(unit[entry], 0) as in_unit
    from vectors, (select unnest($7::integer[]) as entry)
),
seeds as (  -- steps that every run of the point recorded, or did not live to see
    select
        point, step, entry, any_value(runs) as runs, median(in_unit) filter (where isfinite(value)) as finite,
        list_sort(list(case when isfinite(value) then coalesce(in_unit, 1e300) else 1e300 end)) as seen
    from entries
    group by point, step, entry
    having count(*) + any_value(ended) = any_value(runs)
),
whole as (
    select point, step, entry, runs, finite, list_resize(seen, runs, 1e300) as seen
    from seeds
)
select
    point, step, entry, runs, finite,
    [
        seen[(runs + 1) // 2] / 2 + seen[(runs + 2) // 2] / 2,
        seen[greatest(1, ceil(0.1 * runs)::integer)],
        seen[ceil(0.9 * runs)::integer],
        seen[ceil(0.25 * runs)::integer],
        seen[ceil(0.75 * runs)::integer]
    ] as value
from whole
order by entry, point, step
