-- in the mean: Batch norm makes a net better [Fig 7.3 (there of VGG16 on CIFAR10 and CIFAR100)]
-- asks: Of every seed: how much smaller is the test error with batch norm than without?
-- sweeps: figure-7-3
-- setting: {loss}
-- measured: test error {avg(error):.4f} instead of {avg(other_error):.4f} (means)
select *, other_error - error as effect from beside_plain
