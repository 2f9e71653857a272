-- A curve of the runs of the first $3 seeds at every point, a row a run, at about $4 of its recorded steps. $1 is the sweep's id,
-- $2 its experiment, $5 the curve, $6 the column of its unit ('ones' for none).
with chosen as (
    select point, cell_id
    from members join query_table($2) cells using (cell_id)
    where sweep_id = $1 and status in ('ok', 'diverged')
    qualify row_number() over (partition by point order by seed, cell_id) <= $3
),
asked as (
    select
        cell_id, seed, step,
        columns(lambda name: name = $5) as value,
        columns(lambda name: name = $6) as unit
    from (select *, 1.0::double as ones from query_table($2))
    where cell_id in (select cell_id from chosen)
),
runs as (
    select chosen.point, asked.* from chosen join asked using (cell_id) where len(step) > 0 and value is not null
),
grids as (  -- most runs share their recorded steps
    select step, list_max(step) as last_step from (select distinct step from runs)
),
places as (  -- the first record in each of $4 bins of log(1 + step), and the last one
    select step, list_filter(range(1, len(step) + 1), lambda i:
        step[i] = 0 or step[i] = last_step
        or floor($4 * ln(1 + step[i]) / ln(1 + last_step))
            > floor($4 * ln(1 + coalesce(step[i - 1], -1)) / ln(1 + last_step))
    ) as kept
    from grids
)
select
    runs.point, runs.seed,
    list_select(runs.step, places.kept) as step,
    list_transform(
        list_select(runs.value, places.kept), lambda v: try_cast(v as double) / nullif(try_cast(runs.unit as double), 0)
    ) as value
from runs join places on places.step = runs.step
order by runs.point, runs.seed
