-- slug dimensions-are-classes: table-2-2
-- in the mean: A net of C classes expresses its output by C features, and C features have a significant intensity
--     [Table 2.2, (2.7)]
-- asks: Of every seed: how far are the effective dimensions of utilization and intensity at the end from the number of
--     classes, as a share of it?
-- within: 0.1
-- setting: {measure}, {preset}, {classes} classes
-- measured: effective dimension {avg(dimension):.2f} (mean)
with dimensions as (
    select
        preset, seed, classes, unnest(['utilization', 'intensity']) as measure,
        unnest([final_d_eff_utilization, final_d_eff_intensity]) as dimension
    from runs
)
select *, dimension / classes - 1 as effect from dimensions
