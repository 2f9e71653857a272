-- The loss at every test point of B.1, of every run after each of the times $3, in the unit $2 ('epoch' or 'step'): at the
-- recorded step nearest to it, the earlier of two. An epoch has ceil(points / batch_size) steps. Null where a run diverged
-- before. $1 is the sweep's id.
with runs as (
    select
        members.point, sim.seed, sim.s, sim.status, sim.step, sim.hierarchy_loss,
        case $2
            when 'epoch' then ceil((sim.s + sim.zero_cluster::integer) * sim.n / sim.batch_size)::bigint
            when 'step' then 1
        end as steps_per_unit
    from members join sim using (cell_id)
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and sim.hierarchy_loss is not null
),
times as (
    select runs.*, unnest($3) as after from runs
),
nearest as (
    select *, list_position(away, list_min(away)) as place
    from (select *, list_transform(step, lambda t: abs(t - after * steps_per_unit)) as away from times)
)
select
    point, seed, s, after, after * steps_per_unit as asked, step[place] as step,
    case when status = 'ok' or list_max(step) >= after * steps_per_unit then hierarchy_loss[place] end as loss
from nearest
order by point, after, seed
