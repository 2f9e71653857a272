-- claim: The growth term alone describes an SGD run: the noise term can be left out
-- source: 4.1
-- order: 2.3
-- sweeps: figure-2a, claim-theorem-4-1
-- rule: share of seeds
-- why: The framework's default initialisation is not small enough for that: the noise term starts at a share of the
--     test point that can be seen.
-- setting: one_layer by SGD, d = {d}, bias {bias}
-- measured: largest distance {100 * median(off):.1f} % of ||x^|| (median seed), {100 * max(off):.1f} % (worst)
--
-- Of every seed: does the growth term of eq 4.2 alone describe an SGD run on one layer, that is, can the noise term be
-- left out at the initialisation used? Largest distance of the output from the growth term, over records and points: at
-- most 5 % of ||x^||.
select preset, d, bias, seed, max(theorem_4_1_growth_off) as off, off <= 0.05 as holds
from runs
where model = 'one_layer' and drive = 'sgd'
group by preset, d, bias, seed
