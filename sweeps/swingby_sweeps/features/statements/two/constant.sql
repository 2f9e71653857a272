-- slug first-feature-is-constant: claim-features-constant
-- always: The first feature is nearly a constant: its overlap with 1 is above 0.95 [2.5.1 (there in all experiments but
--     the toy)]
-- asks: Of every seed: is |<e_1|1>| above 0.95 on the test sample at the end?
-- least: 6
-- setting: {nets}
-- measured: overlap {min(final_constant_overlap):.3f} to {max(final_constant_overlap):.3f}
select *, concat(activation, if(batch_norm, ', batch norm', '')) as nets, final_constant_overlap > 0.95 as holds from runs
