-- The largest seed that any run of a sweep of this name had, whatever its grid was then.
-- $1 is the name of the sweep.
select max(list_max(json_extract(resolved, '$.seeds')::bigint[])) as seed
from sweeps
where name = $1
