-- What is fitted over time, a row a point of the grid and of the curves: medians over the seeds, 10 % and 90 %, and the
-- times by theory. $1 is the sweep's id.
with cells as (
    select
        members.point, linear.cell_id, shard, unnest(step) as step, unnest(eta_t) as x, unnest(aligned) as signal,
        1 - unnest(noise_left) as noise, unnest(population) as population
    from members join linear using (cell_id)
    where members.sweep_id = $1 and linear.status = 'ok'
)
select
    point, step, median(x) as x, any_value(population) as population,
    median(signal) as signal, quantile_cont(signal, 0.1) as signal_low, quantile_cont(signal, 0.9) as signal_high,
    median(noise) as noise, quantile_cont(noise, 0.1) as noise_low, quantile_cont(noise, 0.9) as noise_high,
    any_value(predicted_noise_time) as noise_time
from cells left join outcomes_fitting_phases as told on told.cell_id = cells.cell_id and of_shard = shard
where x > 0
group by point, step
order by point, step
