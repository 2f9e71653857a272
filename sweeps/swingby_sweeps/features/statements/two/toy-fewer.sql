-- slug toy-fewer-features: table-2-1
-- in the mean: A net that learns a step needs fewer features after training than before, by each of three measures
--     [Table 2.1, Fig 2.2]
-- asks: Of every seed, width and measure: by what factor is the effective dimension smaller at the end than at the
--     start? Its logarithm is the effect.
-- setting: {measure}, width {width}
-- measured: effective dimension {median(before):.2f} at the start, {median(after):.2f} at the end (medians); mean
--     squared error {median(mse):.1g}
with dimensions as (
    select
        preset, seed, width, final_test_loss as mse,
        unnest(['quality', 'utilization', 'intensity']) as measure,
        unnest([d_eff_quality[1], d_eff_utilization[1], d_eff_intensity[1]]) as before,
        unnest([d_eff_quality[-1], d_eff_utilization[-1], d_eff_intensity[-1]]) as after
    from runs
)
select *, ln(before / after) as effect from dimensions
