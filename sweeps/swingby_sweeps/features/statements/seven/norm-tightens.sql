-- in the mean: Batch norm makes features tighter [Fig 7.3 (there of VGG16 on CIFAR10 and CIFAR100)]
-- asks: Of every seed: how much smaller is kappa of the test sample with batch norm than without?
-- sweeps: figure-7-3
-- setting: {loss}
-- measured: kappa {avg(kappa):.3f} instead of {avg(other_kappa):.3f} (means)
select *, other_kappa - kappa as effect from beside_plain
