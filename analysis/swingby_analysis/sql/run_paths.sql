-- The single runs at the points of $3 in a plane, at about $4 of the recorded steps: entries $7 and $8 (counted from 1) of a
-- curve of vectors, each over the same entry of its unit. $1 is the sweep's id, $2 its experiment, $5 the curve, $6 the column
-- of its unit ('ones' for none).
with cells as (
    select *, list_resize([1.0::double], greatest($7, $8), 1.0) as ones from query_table($2)
),
asked as (
    select
        cell_id, seed, status, step,
        columns(lambda name: name = $5) as value,
        columns(lambda name: name = $6) as unit
    from cells
),
entries as (
    select
        members.point, asked.seed, asked.unit,
        list_max(asked.step) as last_step,
        unnest(asked.step) as step,
        unnest([-1] || asked.step[:-2]) as step_before,
        unnest(asked.value) as value
    from members join asked on asked.cell_id = members.cell_id
    where members.sweep_id = $1 and list_contains($3, members.point) and asked.status in ('ok', 'diverged')
)
select
    point, seed, step,
    value[$7] / nullif(unit[$7], 0) as x,
    value[$8] / nullif(unit[$8], 0) as y
from entries
where step = 0 or step = last_step
    or floor($4 * ln(1 + step) / ln(1 + last_step)) > floor($4 * ln(1 + step_before) / ln(1 + last_step))
order by point, seed, step
