-- Times of every mode to 5 % and to 50 % and from 5 to 95 %, measured and in closed form, a row a time; null where a mode is not there by
-- the end, or has no closed form. $1 is the sweep's id.
with runs as (
    select members.point, modes.seed, told.*
    from members join modes using (cell_id)
    join outcomes_mode_stages as told on told.cell_id = modes.cell_id and told.of_shard = modes.shard
    where members.sweep_id = $1 and told.predicted_half_time is not null
),
each as (
    select
        point, seed, unnest(range(1, len(half_time) + 1)) as mode,
        unnest(emergent_time) as emergent, unnest(predicted_emergent_time) as predicted_emergent,
        unnest(half_time) as half, unnest(predicted_half_time) as predicted_half,
        unnest(saturation_time) as saturation, unnest(predicted_saturation_time) as predicted_saturation
    from runs
)
select point, seed, mode, 'to 5 %' as kind, predicted_emergent as predicted, emergent as measured from each
union all select point, seed, mode, 'to 50 %', predicted_half, half from each
union all select point, seed, mode, 'from 5 to 95 %', predicted_saturation, saturation from each
order by point, seed, mode, kind
