-- The loss at every test point of B.1, of every run after each of the epochs $2: at the recorded step nearest to epoch x
-- ceil(points / batch_size), the earlier of two. Null where a run diverged before. $1 is the sweep's id.
with runs as (
    select
        members.point, sim.seed, sim.s, sim.status, sim.step, sim.hierarchy_loss,
        ceil((sim.s + sim.zero_cluster::integer) * sim.n / sim.batch_size)::bigint as steps_per_epoch
    from members join sim using (cell_id)
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and sim.hierarchy_loss is not null
),
times as (
    select runs.*, unnest($2) as epoch from runs
),
nearest as (
    select *, list_position(away, list_min(away)) as place
    from (select *, list_transform(step, lambda t: abs(t - epoch * steps_per_epoch)) as away from times)
)
select
    point, seed, s, epoch, epoch * steps_per_epoch as asked, step[place] as step,
    case when status = 'ok' or list_max(step) >= epoch * steps_per_epoch then hierarchy_loss[place] end as loss
from nearest
order by point, epoch, seed
