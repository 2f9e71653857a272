-- law: From an output of 0 the dynamics is linear as the target goes to 0 [6.2.2]
-- asks: Of every seed: how far is theta from that of the kernel frozen at its start, over |S|, where it is farthest? To
--     first order the kernel changes by (S/Sigma_0)^2/2.
-- sweeps: claim-scalar-downscaling
-- within: 0.001
-- slope: 2
-- setting: Z = 1, p = {width}
-- measured: theta leaves the linear model by {median(nonlinearity) filter (where target >= 1000):.2g} |S| at S = 1000,
--     {median(nonlinearity) filter (where target <= 0.001):.1e} |S| at S = .001 (median seed)
select *, target as parameter, nonlinearity as error from runs
