-- in the mean: With few samples of a skill a net has less strength than (5.5) says [5.3.2]
-- asks: Of every seed: how much smaller than (5.5) is R_k/S, on average over all skills and training sets with at least
--     one sample of the skill and fewer than half of D_c?
-- sweeps: figure-5-1b, figure-5-2b
-- setting: skills {skills}
-- measured: R/S {avg(strength):.3f}, by (5.5) {avg(printed):.3f} (means)
select preset, seed, skills, avg(strength) as strength, avg(printed) as printed, avg(printed - strength) as effect
from by_samples
where d > 0 and printed < 1 - sqrt(0.5)
group by preset, seed, skills
