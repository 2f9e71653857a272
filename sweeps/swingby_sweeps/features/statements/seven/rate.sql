-- slug small-rate-is-extended: figure-7-2a
-- in most seeds: A small learning rate does not lead to minimal features [Fig 7.2 (a) (there of ResNet18 on CIFAR100)]
-- asks: Of every seed at the smallest learning rate: is kappa of the test sample 0.1 or more at the end, if the net has
--     learned?
-- setting: learning rate 0.001, equal epochs
-- measured: kappa {median(final_kappa_cka):.3f}, test accuracy {median(final_test_accuracy):.3f}, training accuracy
--     {median(final_train_accuracy):.2f} (medians)
select *, not minimum_features as holds from runs where lr < 0.002
