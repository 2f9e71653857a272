-- Sweeps that trained extreme points of another sweep on fresh seeds, each with that other one as its newest plan wrote it down.
-- $1 is the name of the other one.
select fresh.sweep_id, fresh.resolved, origin.resolved as origin
from sweeps fresh
left join sweeps origin on origin.sweep_id = fresh.resolved->>'$.replicates.sweep_id'
where fresh.resolved->>'$.replicates.name' = $1
order by fresh.created, fresh.sweep_id
