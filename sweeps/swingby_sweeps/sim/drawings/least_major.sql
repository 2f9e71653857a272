-- The smallest major entry of every run at its last recorded step up to $2, and that step; null for a run that diverged or ended
-- before. $1 is the sweep's id.
with runs as (
    select
        members.point, sim.seed, sim.s, sim.status, sim.step, sim.jacobian,
        len(list_filter(sim.step, lambda t: t <= $2)) as place
    from members join sim using (cell_id)
    where members.sweep_id = $1 and sim.status in ('ok', 'diverged') and sim.jacobian is not null
)
select
    point, seed, step[place] as step,
    case when list_max(step) >= $2 then list_min(
        list_transform(range(s), lambda k: jacobian[place][1 + k * (s + 1)])
    ) end as least_major
from runs
order by point, seed
