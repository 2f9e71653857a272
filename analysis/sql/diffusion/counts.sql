-- How far the sweep is: planned cells, and what became of them.
-- $1 is the sweep's id.
select
    count(*) as planned,
    count(*) filter (where diffusion.status = 'ok') as ok,
    count(*) filter (where diffusion.status = 'diverged') as diverged,
    count(*) filter (where diffusion.status = 'failed') as failed,
    count(*) filter (where diffusion.status is null or diffusion.status = 'running') as missing,
    count(distinct members.point) as points
from members left join diffusion on diffusion.cell_id = members.cell_id
where members.sweep_id = $1
