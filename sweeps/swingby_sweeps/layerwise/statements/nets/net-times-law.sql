-- law: With Gram-Schmidt on the start, each mode follows (3.15) [(3.15), with a start of ours]
-- asks: Of every seed: by how much does the time at which a mode is half learned miss (3.15), in the worst mode, as
--     sigma shrinks? It starts from what Gram-Schmidt, in the order of rho, leaves of m_i = (W_1^T u_i + W_2 v_i) / 2.
-- sweeps: claim-layerwise-times
-- within: 0.01
-- slope: 1
-- setting: p = {width}
-- measured: largest error of a time {median(error) filter (where sigma > 0.05):.2g} at sigma = {max(sigma)},
--     {median(error) filter (where sigma < 1e-5):.2g} at sigma = {min(sigma)} (medians)
select *, sigma as parameter, law_error as error from runs
