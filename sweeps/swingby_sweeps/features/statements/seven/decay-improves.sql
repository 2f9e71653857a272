-- in the mean: Weight decay makes a net better [Fig 7.2 (b) (there of ResNet18 on CIFAR10)]
-- asks: Of every seed: how much smaller is the test error than without weight decay?
-- sweeps: figure-7-2b
-- setting: weight decay {weight_decay} against none
-- measured: test error {avg(error):.4f} instead of {avg(other_error):.4f} (means)
select *, other_error - error as effect from beside_free
