-- claim: Weight decay makes features tighter
-- source: Fig 7.2 (b) (there of ResNet18 on CIFAR10)
-- order: 7.1
-- sweeps: figure-7-2b
-- rule: in the mean
-- setting: weight decay {weight_decay} against none
-- measured: kappa {avg(kappa):.3f} instead of {avg(other_kappa):.3f} (means)
--
-- Of every seed: how much smaller is kappa of the test sample than without weight decay?
select *, other_kappa - kappa as effect from beside_free
