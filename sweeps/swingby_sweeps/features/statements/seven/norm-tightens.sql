-- claim: Batch norm makes features tighter
-- source: Fig 7.3 (there of VGG16 on CIFAR10 and CIFAR100)
-- order: 8.1
-- sweeps: figure-7-3
-- rule: in the mean
-- setting: {loss}
-- measured: kappa {avg(kappa):.3f} instead of {avg(other_kappa):.3f} (means)
--
-- Of every seed: how much smaller is kappa of the test sample with batch norm than without?
select *, other_kappa - kappa as effect from beside_plain
