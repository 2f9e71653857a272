-- slug collapse-under-random-labels: figure-3-5
-- in most seeds: Features end in the minimum feature regime, kappa below 0.1, however many labels are random [Fig 3.5,
--     3.5.3 (there of a ResNet18)]
-- asks: Of every seed: is kappa of the features on the training points below 0.1 at the end?
-- why: With all labels random every seed is below 0.1, with true labels three of eight; kappa falls as the share of
--     random labels grows.
-- setting: share of random labels {random_labels}
-- measured: kappa {median(final_kappa):.3f}, effective dimension {median(final_d_eff):.1f}, training accuracy
--     {median(final_train_accuracy):.2f}, test accuracy {median(final_test_accuracy):.2f} (medians)
select *, collapsed as holds from runs
