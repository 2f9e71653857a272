-- in the mean: Linear nets have tighter features than relu nets [ours, beside 7.5: tight features that are not better]
-- asks: Of every seed: how much smaller is kappa of the test sample of a linear net than of a relu net?
-- sweeps: claim-features-constant
-- setting: linear against relu, without batch norm
-- measured: kappa {avg(kappa):.3f} instead of {avg(other_kappa):.3f} (means)
select *, other_kappa - kappa as effect from linear_beside_relu
