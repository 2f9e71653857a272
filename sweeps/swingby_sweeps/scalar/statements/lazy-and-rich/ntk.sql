-- law: With Z = sqrt(p) and normal weights the dynamics is linear as the width grows [6.2.3, 6.3.1]
-- asks: Of every seed: how far is theta from that of the kernel frozen at its start, over |S - S_0|, where it is
--     farthest? Theta moves by O(1) while Sigma_0 = sqrt(p), so that the kernel changes by O(1/p).
-- sweeps: claim-scalar-ntk
-- within: 0.001
-- slope: 1
-- setting: p from {min(width)} to {max(width)}
-- measured: theta leaves the linear model by {median(nonlinearity) filter (where width = 100):.2g} |S - S_0| at p =
--     100, {median(nonlinearity) filter (where width = 100000):.1e} at p = 100,000 (median seed)
select *, 1 / width as parameter, nonlinearity as error from runs
