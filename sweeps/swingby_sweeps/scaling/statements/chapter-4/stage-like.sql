-- always: Skills are learned one after the other [4.2.4, where it is assumed]
-- asks: Of every alpha: is each of the nine first pairs of skills stage-like, so that the later one is at 5 % of S at
--     most when the two together make S? An alpha whose curve does not show it is left out.
-- sweeps: figure-4-1
-- least: 4
-- setting: R(0) = {r0}
-- measured: {min(stages)} to {max(stages)} of the nine pairs recorded, by alpha; theory says {min(predicted_stages)} to
--     {max(predicted_stages)} of all pairs
-- why: The ratio of the frequencies of neighbours falls to 1: about (alpha + 1)/2 ln(S/R(0)) / ln 19 pairs are
--     stage-like, and all later ones overlap. The exponents do not need it: skills are decoupled, and each has the same
--     curve in a time of its own.
select * replace (round(1000 * alpha)::bigint as seed), stages = 9 as holds
from runs
