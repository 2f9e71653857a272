-- The loss at every test point of B.1, of every run, at the recorded step nearest to a given one, the earlier of two. Null where
-- a run diverged before. $1 is the sweep's id; at the points $2, $3 is a number of epochs or steps, and $4 is the step at its end.
with times as (
    select unnest($2) as point, unnest($3) as after, unnest($4) as at_step
),
runs as (
    select
        members.point, sim.seed, sim.s, sim.status, sim.step, sim.hierarchy_loss, times.after, times.at_step,
        list_transform(sim.step, lambda t: abs(t - times.at_step)) as away
    from members join sim using (cell_id) join times on times.point = members.point
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and sim.hierarchy_loss is not null
),
nearest as (
    select *, list_position(away, list_min(away)) as place from runs
)
select
    point, seed, s, after, at_step as asked, step[place] as step,
    case when status = 'ok' or list_max(step) >= at_step then hierarchy_loss[place] end as loss
from nearest
order by point, after, seed
