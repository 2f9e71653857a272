-- Curves $5, with the columns of their units, of the runs of the first $3 seeds at every point, a row a run. $1 is the sweep's id,
-- $2 its experiment, $4 the column of a run's last step. `point_end` is the last step of any of these runs of the point.
with chosen as (
    select point, cell_id, status, columns(lambda name: name = $4) as run_end
    from members join query_table($2) cells using (cell_id)
    where sweep_id = $1 and status in ('ok', 'diverged')
    qualify row_number() over (partition by point order by seed, cell_id) <= $3
),
ends as (
    select *, max(run_end) over (partition by point) as point_end from chosen
)
select ends.point, ends.point_end, ends.run_end, ends.status, cells.step, columns(lambda name: list_contains($5, name))
from ends join query_table($2) cells using (cell_id)
order by ends.point, ends.cell_id
