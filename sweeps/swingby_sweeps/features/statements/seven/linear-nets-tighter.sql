-- claim: Linear nets have tighter features than relu nets
-- source: ours, beside 7.5: tight features that are not better
-- order: 11.3
-- sweeps: claim-features-constant
-- rule: in the mean
-- setting: linear against relu, without batch norm
-- measured: kappa {avg(kappa):.3f} instead of {avg(other_kappa):.3f} (means)
--
-- Of every seed: how much smaller is kappa of the test sample of a linear net than of a relu net?
select *, other_kappa - kappa as effect from linear_beside_relu
