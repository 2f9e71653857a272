-- slug two-ways-of-training: figure-2-3
-- in most seeds: Features are minimal where all layers train, and extended where the last one trains alone [Fig 2.3,
--     2.3.1 (there of a CNN on MNIST)]
-- asks: Of every seed: is kappa of the test sample below 0.1 at the end where all layers train, and 0.1 or more where
--     the last one trains alone?
-- setting: trained: {trained}
-- measured: kappa {median(final_kappa_cka):.3f}, effective dimension of utilization
--     {median(final_d_eff_utilization):.1f} and of intensity {median(final_d_eff_intensity):.1f}, test accuracy
--     {median(final_test_accuracy):.3f} (medians)
select *, minimum_features = (trained = 'all') as holds from runs
