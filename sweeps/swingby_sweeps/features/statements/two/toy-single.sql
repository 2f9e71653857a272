-- slug toy-single-feature: table-2-1
-- in most seeds: A net that learns a step ends with a single feature, which carries both the target and the output [Fig
--     2.2 (c), Table 2.1]
-- asks: Of every seed: are the effective dimensions of quality and of utilization at the end nearer to 1 than to 2?
-- setting: width {width}
-- measured: effective dimension of quality {median(final_d_eff_quality):.2f}, of utilization
--     {median(final_d_eff_utilization):.2f} (medians)
select *, final_d_eff_quality < 1.5 and final_d_eff_utilization < 1.5 as holds from runs
