select sweep_id, name, title, experiment, cells, created, resolved
from sweeps order by created desc, sweep_id
