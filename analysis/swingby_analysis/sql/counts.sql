-- How far the sweep is: planned cells, and what became of them.
-- $1 is the sweep's id, $2 its experiment.
select
    count(*) as planned,
    count(*) filter (where cells.status = 'ok') as ok,
    count(*) filter (where cells.status = 'diverged') as diverged,
    count(*) filter (where cells.status = 'failed') as failed,
    count(*) filter (where cells.status is null or cells.status = 'running') as missing,
    count(distinct members.point) as points,
    count(distinct members.point) filter (where cells.status in ('ok', 'diverged')) as trained
from members left join query_table($2) cells using (cell_id)
where members.sweep_id = $1
