-- Medians over the seeds of every entry of the recorded spectra, at each of their steps: intensity over the largest but the
-- first (the first belongs to the constant), quality and utilization, and both cumulated. $1 is the sweep's id.
with times as (
    select
        members.point, features.cell_id, features.classes, unnest(spectra_step) as step,
        unnest(intensities) as rho, unnest(qualities) as quality, unnest(utilizations) as utilization
    from members join features using (cell_id)
    where members.sweep_id = $1 and features.status = 'ok' and spectra_step is not null
),
entries as (
    select
        *, unnest(range(1, len(rho) + 1)) as k
    from times
)
select
    point, step, k, median(rho[k] / rho[if(len(rho) > 1, 2, 1)]) as intensity,
    median(quality[k]) as quality, median(utilization[k]) as utilization,
    median(list_sum(quality[1:k])) as quality_sum, median(list_sum(utilization[1:k])) as utilization_sum
from entries
group by point, step, k
order by point, step, k
