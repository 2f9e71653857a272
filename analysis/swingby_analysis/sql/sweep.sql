-- A sweep as its newest plan wrote it down.
-- $1 is the sweep's id.
select sweep_id, name, experiment, title, cells, created, resolved
from sweeps
where sweep_id = $1
