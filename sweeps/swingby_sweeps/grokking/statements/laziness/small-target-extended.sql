-- in the mean: Features are farther from the minimum feature regime where the target is smaller [6.4.1, Fig 6.3]
-- asks: Of every seed, all layers trained: how much larger is kappa at the end than at target scale 1?
-- sweeps: figure-6-3
-- setting: target scale {lazy} against 1
-- measured: kappa {median(final_kappa):.2f} instead of {median(kappa_of_rich):.2f} (medians)
select *, final_kappa - kappa_of_rich as effect from lazy_beside_rich
