-- Curves $5, with the columns of their units, of the runs of the first $3 seeds at every point, a row a run. $1 is the sweep's id,
-- $2 its experiment, $4 the column of a run's last step. `point_end` is the last step of any of these runs of the point.
with cells as (
    select *, columns(lambda name: name = $4) as run_end from query_table($2)
),
chosen as (
    select members.point, cells.cell_id, cells.status, cells.run_end
    from members join cells using (cell_id)
    where members.sweep_id = $1 and cells.status in ('ok', 'diverged')
    qualify row_number() over (partition by members.point order by cells.seed, cells.cell_id) <= $3
),
ends as (
    select *, max(run_end) over (partition by point) as point_end from chosen
)
select ends.point, ends.point_end, ends.run_end, ends.status, cells.step, columns(lambda name: list_contains($5, name))
from ends join cells using (cell_id)
order by ends.point, ends.cell_id
