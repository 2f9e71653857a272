-- The loss over the resource, a row a point of the grid and of the curve: the median over the seeds, 10 % and 90 %, and
-- what theory says of the point. $1 is the sweep's id.
with cells as (
    select
        members.point, multilinear.cell_id, shard, bottleneck, alpha, width,
        unnest(step) as step, unnest(x) as x, unnest(loss) as loss
    from members join multilinear using (cell_id)
    where members.sweep_id = $1 and multilinear.status = 'ok'
)
select
    point, any_value(bottleneck) as bottleneck, any_value(alpha) as alpha, any_value(width) as width, step,
    any_value(x) as x, median(loss) as loss, quantile_cont(loss, 0.1) as low, quantile_cont(loss, 0.9) as high,
    any_value(theory_exponent) as exponent, any_value(predicted_prefactor) as prefactor,
    any_value(lost_loss) as lost
from cells left join outcomes_scaling_exponents as told on told.cell_id = cells.cell_id and of_shard = shard
group by point, step
order by point, step
