-- The single runs at the points of $2, at about $3 of the recorded steps: losses in units of L_ref,
-- outputs of concepts $4 and $5 (counted from 1) over their mu. $1 is the sweep's id.
with runs as (
    select members.point, sim.*
    from members join sim on sim.cell_id = members.cell_id
    where members.sweep_id = $1 and list_contains($2, members.point) and sim.status in ('ok', 'diverged')
),
entries as (
    select
        point, seed, l_ref, mu,
        list_max(step) as last_step,
        unnest(step) as step,
        unnest([-1] || step[:-2]) as step_before,
        unnest(ood_loss) as ood_loss,
        unnest(train_loss) as train_loss,
        unnest(output) as output
    from runs
)
select
    point, seed, step,
    ood_loss / l_ref as ood,
    train_loss / l_ref as training,
    output[$4] / nullif(mu[$4], 0) as x,
    output[$5] / nullif(mu[$5], 0) as y
from entries
where step = 0 or step = last_step
    or floor($3 * ln(1 + step) / ln(1 + last_step)) > floor($3 * ln(1 + step_before) / ln(1 + last_step))
order by point, seed, step
