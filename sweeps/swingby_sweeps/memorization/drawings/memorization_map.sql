-- The share of copies among the samples of each point of the grid at each recorded step: the mean over seeds, which the
-- last steps of runs that diverge do without. $1 is the sweep's id, $2 its experiment.
with records as (
    select members.point, runs.points as n, unnest(runs.step) as step, unnest(runs.memorized) as memorized
    from members join query_table($2) as runs using (cell_id)
    where members.sweep_id = $1
)
select point, n, step, avg(memorized) as share, count(*) as seeds
from records
group by point, n, step
order by point, step
