-- The curves of every grid point: median, 10 % and 90 % quantiles over the seeds at about $2 of the recorded steps.
-- Losses in units of L_ref; outputs of concepts $3 and $4 (counted from 1) over their mu. A loss that is not finite counts as
-- larger than any other. $1 is the sweep's id.
with runs as (
    select members.point, sim.*
    from members join sim on sim.cell_id = members.cell_id
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged')
),
entries as (
    select
        point, cell_id, l_ref, mu,
        list_max(step) as last_step,
        unnest(step) as step,
        unnest([-1] || step[:-2]) as step_before,
        unnest(ood_loss) as ood_loss,
        unnest(train_loss) as train_loss,
        unnest(output) as output
    from runs
),
kept as (  -- the first record in each of $2 bins of log(1 + step), and the last one
    select *
    from entries
    where step = 0 or step = last_step
        or floor($2 * ln(1 + step) / ln(1 + last_step)) > floor($2 * ln(1 + step_before) / ln(1 + last_step))
),
scaled as (
    select
        point, step, cell_id,
        case when isfinite(ood_loss) then ood_loss / l_ref else 1e300 end as ood,
        case when isfinite(train_loss) then train_loss / l_ref else 1e300 end as training,
        case when isfinite(output[$3]) then output[$3] / nullif(mu[$3], 0) end as x,
        case when isfinite(output[$4]) then output[$4] / nullif(mu[$4], 0) end as y
    from kept
)
select
    point, step,
    count(*) as runs,
    quantile_cont(ood, [0.5, 0.1, 0.9]) as ood,
    quantile_cont(training, [0.5, 0.1, 0.9]) as training,
    median(x) as x,
    median(y) as y
from scaled
group by point, step
order by point, step
