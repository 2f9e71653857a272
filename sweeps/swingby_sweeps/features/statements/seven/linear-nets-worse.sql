-- claim: Linear nets are worse than relu nets
-- source: ours, beside 7.5: tight features that are not better
-- order: 11.4
-- sweeps: claim-features-constant
-- rule: in the mean
-- setting: linear against relu, without batch norm
-- measured: test error {avg(error):.3f} instead of {avg(other_error):.3f} (means)
--
-- Of every seed: how much larger is the test error of a linear net than of a relu net?
select *, error - other_error as effect from linear_beside_relu
