-- claim: Batch norm makes a net better
-- source: Fig 7.3 (there of VGG16 on CIFAR10 and CIFAR100)
-- order: 8.2
-- sweeps: figure-7-3
-- rule: in the mean
-- setting: {loss}
-- measured: test error {avg(error):.4f} instead of {avg(other_error):.4f} (means)
--
-- Of every seed: how much smaller is the test error with batch norm than without?
select *, other_error - error as effect from beside_plain
