-- The entries of the Jacobian over the seeds of every point, at about $2 of the recorded steps: median, and the 10 % and 90 %
-- quantiles (values that occur). `entry` counts from 0, row by row. A run that diverged counts as long as it was recorded.
-- $1 is the sweep's id.
with records as (
    select
        members.point, sim.s, sim.steps as last_step,
        unnest(sim.step) as step,
        unnest([-1] || sim.step[:-2]) as step_before,
        unnest(sim.jacobian) as jacobian
    from members join sim using (cell_id)
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and sim.jacobian is not null
),
points as (
    select point, max(last_step) as last_step from records group by point
),
kept as (  -- the first record in each of $2 bins of log(1 + step), and the last one
    select records.point, records.s, records.step, records.jacobian
    from records join points using (point)
    where step = 0 or step = points.last_step
        or floor($2 * ln(1 + step) / ln(1 + points.last_step)) > floor($2 * ln(1 + step_before) / ln(1 + points.last_step))
),
entries as (
    select point, s, step, unnest(range(s * s)) as entry, unnest(jacobian) as value from kept
)
select
    point, s, step, entry, count(*) as runs,
    median(value) as median, quantile_disc(value, 0.1) as low, quantile_disc(value, 0.9) as high
from entries
where isfinite(value)
group by point, s, step, entry
order by point, entry, step
