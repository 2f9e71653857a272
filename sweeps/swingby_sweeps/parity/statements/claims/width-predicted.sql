-- in most seeds: One calibration on a net of one skill predicts the strength of later skills from the width [(5.9), Fig
--     5.1(c)]
-- asks: Of every seed: is the mean of |R_k/S - predicted| over all widths at most a tenth, for each of the skills 2 to
--     5?
-- sweeps: figure-5-1c
-- setting: skill {skill}
-- measured: mean error of R/S {avg(error):.3f}
-- why: A later skill takes more units than the first one: what the first ones leave over is spread thin.
select preset, seed, skill, avg(abs(strength - predicted)) as error, error <= 0.1 as holds
from by_width
where skill > 1
group by preset, seed, skill
