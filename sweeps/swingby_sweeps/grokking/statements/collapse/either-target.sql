-- in most seeds: A net is in the minimum feature regime whether it learns classes or a number [Fig 3.6 (there of a
--     ResNet18)]
-- asks: Of every seed: is kappa of the features on the training points below 0.1 at the end?
-- sweeps: figure-3-6
-- setting: {target}
-- measured: kappa {median(final_kappa):.3f}, effective dimension {median(final_d_eff):.2f}, test accuracy
--     {median(final_test_accuracy):.2f} (medians)
select *, collapsed as holds from runs
