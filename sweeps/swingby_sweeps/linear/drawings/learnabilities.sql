-- Learnabilities, a row a point of the grid and a listed mode: the mean over the seeds of the measured one, 10 % and 90 %,
-- and that of theory. $1 is the sweep's id.
with modes as (
    select
        members.point, unnest(listed_modes) as k, unnest(learnability) as predicted, unnest(sample_learnability) as measured
    from members join linear using (cell_id)
    where members.sweep_id = $1 and linear.status = 'ok'
)
select
    point, k, any_value(predicted) as predicted, avg(measured) as measured, quantile_cont(measured, 0.1) as low,
    quantile_cont(measured, 0.9) as high
from modes
group by point, k
order by point, k
