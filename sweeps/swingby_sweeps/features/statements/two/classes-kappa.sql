-- slug minimal-for-every-number-of-classes: table-2-2
-- in most seeds: Nets that generalise are in the minimum feature regime, whatever the number of classes [Table 2.2, 2.4
--     (there of ResNet18 and VGG16 on images)]
-- asks: Of every seed: is kappa of the test sample below 0.1 at the end?
-- setting: {preset}, {classes} classes
-- measured: kappa {median(final_kappa_cka):.3f}, test accuracy {median(final_test_accuracy):.3f} (medians)
select *, minimum_features as holds from runs
