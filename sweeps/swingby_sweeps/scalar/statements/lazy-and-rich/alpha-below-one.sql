-- in the mean: With targets y/alpha, training is lazier at alpha < 1 than at alpha = 1 [6.4.1]
-- asks: Of every seed: how much more does the log of the kernel change at alpha = 1 than at alpha = 1/100, in the model
--     of 6.2 with an output of 0 at the start? Lazier means that it changes less.
-- sweeps: claim-scalar-downscaling
-- setting: alpha = 1/100 beside alpha = 1, S = Sigma_0 at alpha = 1
-- measured: the log of the kernel changes by {avg(change) filter (where alpha < 1):.2g} at alpha = 1/100, by
--     {avg(change) filter (where alpha = 1):.2g} at 1, and by {avg(change) filter (where alpha > 1):.1e} at 100
-- why: A slip of the pen: the section divides the target by alpha, its figure has alpha = 100, and the lazier models
--     are those with alpha > 1.
select *, avg(change) filter (where alpha = 1) over one - avg(change) filter (where alpha < 1) over one as effect
from (select *, round(10 / target, 4) as alpha from wide_runs where target in (1000, 10, 0.1))
window one as (partition by preset, seed)
