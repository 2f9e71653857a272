-- in the mean: (5.5) describes the strength over samples better than the linear law [(5.5), (B.42)]
-- asks: Of every seed: by how much is the mean of |R_k/S - predicted| larger for the linear law min(1, d/D_c), the mean
--     of the model, than for (5.5) as printed? Both go through the calibrated half. Over all skills and training sets.
-- sweeps: figure-5-1b, figure-5-2b
-- setting: skills {skills}
-- measured: mean error of R/S {avg(by_printed):.3f} by (5.5), {avg(by_mean_law):.3f} by the linear law
-- why: (5.5) is not the mean strength of the model that it is derived from, which is linear in d_k; nets rise more
--     abruptly than either, so that neither is much nearer.
select
    preset, seed, skills, avg(abs(strength - printed)) as by_printed, avg(abs(strength - mean_law)) as by_mean_law,
    by_mean_law - by_printed as effect
from by_samples
group by preset, seed, skills
