-- slug random-labels-minimal: claim-features-random-labels
-- exists: A net can be in the minimum feature regime on random labels, which no net can generalise from [7.5, Fig 3.5
--     (there of ResNet18)]
-- asks: Of every seed that learns nine tenths of its labels: is kappa of the test sample below 0.1 at the end?
-- setting: {layers} layers
-- measured: kappa {median(final_kappa_cka):.3f} (least {min(final_kappa_cka):.3f}), training accuracy
--     {median(final_train_accuracy):.2f}, test accuracy {median(final_test_accuracy):.2f} (medians)
select *, if(final_train_accuracy >= 0.9, minimum_features, null) as holds from runs
