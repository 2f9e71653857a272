-- Strengths of every mode and the loss over the loss at the start, medians and 10 % to 90 % over the seeds of a point, at every recorded
-- step that all of them have; modes are counted from 1. $1 is the sweep's id.
with runs as (
    select members.point, modes.lr, modes.step, modes.strength, modes.loss
    from members join modes using (cell_id)
    where members.sweep_id = $1
),
steps as (
    select
        point, lr, unnest(step) as step, unnest(strength) as strength, unnest(loss) as loss, loss[1] as first
    from runs
),
named as (
    select point, step, lr * step as t, unnest(strength) as value, 'mode ' || unnest(range(1, len(strength) + 1)) as line from steps
    union all
    select point, step, lr * step, loss / first, 'loss' from steps
)
select
    point, line, step, any_value(t) as t, median(value) as median, quantile_cont(value, 0.1) as low, quantile_cont(value, 0.9) as high
from named
group by point, line, step
order by point, line, step
