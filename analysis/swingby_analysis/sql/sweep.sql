-- A sweep as its newest plan wrote it down.
-- $1 is the sweep's id.
select sweep_id, name, experiment, title, cells, created, stream_version, recording, resolved
from sweeps
where sweep_id = $1
