seeds as (
    select sweep_id, count(distinct seed) as seeds from cells group by sweep_id
)
select
    count(distinct sweep_id) as sweeps, count(distinct cell_id) as cells,
    (select min(seeds) from seeds) as fewest, (select max(seeds) from seeds) as most,
    strftime(max(finished), '%Y-%m-%d') as trained
from cells
