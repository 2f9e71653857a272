-- slug points-concentrate: figure-7-1
-- in the mean: More training points concentrate quality and utilization in the first C features [Fig 7.1 (b)]
-- asks: Of every seed: how much more of quality and utilization have the first C features with the most points than
--     with the fewest?
-- setting: {measure}
-- measured: {avg(few):.3f} with 32 points, {avg(many):.3f} with 1,000 (means)
with ends as (
    select
        preset, seed, unnest(['quality', 'utilization']) as measure,
        unnest([arg_min(final_quality_at_classes, n), arg_min(final_utilization_at_classes, n)]) as few,
        unnest([arg_max(final_quality_at_classes, n), arg_max(final_utilization_at_classes, n)]) as many
    from runs
    group by preset, seed
)
select *, many - few as effect from ends
