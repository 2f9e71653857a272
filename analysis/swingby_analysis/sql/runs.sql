-- The single runs at the points of $3, at about $4 of the recorded steps: entries $7 (counted from 1) of a curve of vectors,
-- each in its unit, in the order of $7; a curve of numbers has the one entry 1. $1 is the sweep's id, $2 its experiment, $5 the
-- curve, $6 the column of its unit ('ones' for none).
with cells as (
    select *, list_resize([1.0::double], list_max($7::integer[]), 1.0) as ones from query_table($2)
),
asked as (
    select
        cell_id, seed, status, step,
        columns(lambda name: name = $5) as value,
        columns(lambda name: name = $6) as unit
    from cells
),
records as (
    select
        members.point, asked.seed, asked.unit,
        list_max(asked.step) as last_step,
        unnest(asked.step) as step,
        unnest([-1] || asked.step[:-2]) as step_before,
        unnest(asked.value) as value
    from members join asked on asked.cell_id = members.cell_id
    where members.sweep_id = $1 and list_contains($3, members.point) and asked.status in ('ok', 'diverged')
),
vectors as (  -- a number is a vector of one entry
    select
        point, seed, step,
        case when typeof(value) like '%[]' then try_cast(value as double[]) else [try_cast(value as double)] end as value,
        case when typeof(unit) like '%[]' then try_cast(unit as double[]) else [try_cast(unit as double)] end as unit
    from records
    where value is not null and (
        step = 0 or step = last_step
        or floor($4 * ln(1 + step) / ln(1 + last_step)) > floor($4 * ln(1 + step_before) / ln(1 + last_step)))
)
select point, seed, step, list_transform($7::integer[], lambda entry: value[entry] / nullif(unit[entry], 0)) as value
from vectors
order by point, seed, step
