-- slug number-needs-two-features: figure-3-6
-- in the mean: A net that learns a number uses two features, the first of them constant [Fig 3.6 (there of a ResNet18)]
-- asks: Of every seed that learns the digit as a number: how far is the effective dimension of the features from 2?
-- within: 0.1
-- why: In six of eight seeds the effective dimension is 2.00; two ended with a further feature.
-- setting: the digit as a number
-- measured: effective dimension {avg(final_d_eff):.3f} (mean; {min(final_d_eff):.3f} to {max(final_d_eff):.3f}); kappa
--     {max(final_kappa):.1g} at most; test accuracy {median(final_test_accuracy):.2f}
select *, final_d_eff - 2 as effect from runs where target = 'number'
