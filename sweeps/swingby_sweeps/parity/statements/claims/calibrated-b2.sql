-- in the mean: B^2 = 1/22 fits a net of one skill [5.2.1, Fig 5.2(a)]
-- asks: Of every seed with one skill of three bits: how far is the 1/B^2 that its time asks for from 22?
-- sweeps: figure-5-2a
-- within: 3
-- setting: m = {m}
-- measured: 1/B^2 {median(inverse_b2[1]):.1f} (median), {min(inverse_b2[1]):.1f} to {max(inverse_b2[1]):.1f}
select preset, seed, m, inverse_b2, inverse_b2[1] - 22 as effect
from runs
where m = 3 and outcome <> 'diverged'
