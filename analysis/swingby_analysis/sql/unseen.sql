-- Cells with a result that no detector has seen, or whose result is another one since.
-- $1 is the sweep's id, $2 its experiment, $3 the tables of outcomes.
with seen as (
    select distinct cell_id, of_shard from query_table($3, true)
)
select count(*) as cells
from members
join (select cell_id, shard, status from query_table($2)) here using (cell_id)
where
    members.sweep_id = $1 and here.status in ('ok', 'diverged')
    and not exists (select 1 from seen where seen.cell_id = here.cell_id and seen.of_shard = here.shard)
