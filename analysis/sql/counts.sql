-- How far the sweep is: planned cells, and what became of them.
-- $1 is the sweep's id.
select
    count(*) as planned,
    count(*) filter (where sim.status = 'ok') as ok,
    count(*) filter (where sim.status = 'diverged') as diverged,
    count(*) filter (where sim.status = 'failed') as failed,
    count(*) filter (where sim.status is null or sim.status = 'running') as missing,
    count(distinct members.point) as points
from members left join sim on sim.cell_id = members.cell_id
where members.sweep_id = $1
