-- in the mean: Weight decay makes features tighter [Fig 7.2 (b) (there of ResNet18 on CIFAR10)]
-- asks: Of every seed: how much smaller is kappa of the test sample than without weight decay?
-- sweeps: figure-7-2b
-- setting: weight decay {weight_decay} against none
-- measured: kappa {avg(kappa):.3f} instead of {avg(other_kappa):.3f} (means)
select *, other_kappa - kappa as effect from beside_free
