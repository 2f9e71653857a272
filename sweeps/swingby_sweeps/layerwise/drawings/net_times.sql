-- The time at which each mode of a linear net is half learned, beside the law with Gram-Schmidt and the naive one, a row a prediction; null
-- where a mode is not half learned by the end. $1 is the sweep's id.
with runs as (
    select members.point, linear_net.seed, told.*
    from members join linear_net using (cell_id)
    join outcomes_net_modes as told on told.cell_id = linear_net.cell_id and told.of_shard = linear_net.shard
    where members.sweep_id = $1 and told.law_time is not null and told.mode_time is not null
),
each as (
    select
        point, seed, unnest(range(1, len(mode_time) + 1)) as mode, unnest(mode_time) as measured,
        unnest(law_time) as law, unnest(naive_time) as naive
    from runs
)
select point, seed, mode, 'with Gram-Schmidt' as kind, law as predicted, measured from each
union all select point, seed, mode, 'naive', naive, measured from each
order by point, seed, mode, kind
