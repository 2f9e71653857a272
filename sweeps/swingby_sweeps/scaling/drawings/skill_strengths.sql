-- Strengths of the skills over time, a row a point of the grid, a point of the curve and a skill, over S. $1 is the sweep's id.
with cells as (
    select
        members.point, multilinear.s, alpha, skills, r0,
        unnest(step) as step, unnest(x) as x, unnest(strength) as strengths
    from members join multilinear using (cell_id)
    where members.sweep_id = $1 and multilinear.status = 'ok' and strength is not null
)
select
    point, step, x, unnest(range(1, len(strengths) + 1)) as skill, unnest(strengths) / s as strength
from cells
where step % 5 = 0
order by point, skill, step
