-- in the mean: Linear nets are worse than relu nets [ours, beside 7.5: tight features that are not better]
-- asks: Of every seed: how much larger is the test error of a linear net than of a relu net?
-- sweeps: claim-features-constant
-- setting: linear against relu, without batch norm
-- measured: test error {avg(error):.3f} instead of {avg(other_error):.3f} (means)
select *, error - other_error as effect from linear_beside_relu
