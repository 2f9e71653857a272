-- claim: Weight decay makes a net better
-- source: Fig 7.2 (b) (there of ResNet18 on CIFAR10)
-- order: 7.2
-- sweeps: figure-7-2b
-- rule: in the mean
-- setting: weight decay {weight_decay} against none
-- measured: test error {avg(error):.4f} instead of {avg(other_error):.4f} (means)
--
-- Of every seed: how much smaller is the test error than without weight decay?
select *, other_error - error as effect from beside_free
