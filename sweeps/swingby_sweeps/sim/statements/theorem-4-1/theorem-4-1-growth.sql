-- in most seeds: The growth term alone describes an SGD run: the noise term can be left out [4.1]
-- asks: Of every seed: does the growth term of eq 4.2 alone describe an SGD run on one layer without bias, wherever a
--     step lr a_max is at most 0.02, that is, can the noise term be left out at the initialisation used? Largest
--     distance of the output from the growth term, over records: at most 5 % of ||x^||.
-- sweeps: claim-theorem-4-1, claim-theorem-4-1-steps
-- after: Asked where the theorem speaks, as the claims beside it: without a bias, and in steps of at most a fiftieth of
--     the fastest time constant. The tolerance is what it was.
-- why: The framework's default initialisation is not small enough for that: the noise term starts at a share of the
--     test point that can be seen.
-- setting: one_layer by SGD, d = {d}, mu = {mu}; steps of at most {max(length):.2g} of the fastest time constant
-- measured: largest distance {100 * median(off):.1f} % of ||x^|| (median run), {100 * max(off):.1f} % (worst)
select *, h * list_max(a) as length, theorem_4_1_growth_off as off, off <= 0.05 as holds
from (select *, time_per_step as h from runs where model = 'one_layer' and drive = 'sgd' and not bias)
where h * list_max(a) <= 0.02
