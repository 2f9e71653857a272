-- always: SGD on one layer follows the growth and noise terms of Theorem 4.1 [Theorem 4.1, eq 4.2]
-- asks: Of every seed: does SGD on one layer without bias follow Theorem 4.1, growth plus noise (eq 4.2), within 5 % of
--     ||x^|| at every recorded step, wherever a step lr a_max is at most 0.02? a_p are those of the population, W(0) is
--     the run's own; two concepts.
-- sweeps: claim-theorem-4-1, claim-theorem-4-1-steps
-- after: Asked where the theorem speaks: without a bias, and in steps of at most a fiftieth of the fastest time
--     constant. Before, most runs had a bias, or steps of up to nearly half of it. The tolerance is what it was.
-- setting: one_layer by SGD, d = {d}, mu = {mu}; steps of at most {max(length):.2g} of the fastest time constant
-- measured: largest distance {100 * median(off):.2f} % of ||x^|| (median run), {100 * max(off):.2f} % (worst)
select *, h * list_max(a) as length, theorem_4_1_off as off, off <= 0.05 as holds
from (select *, time_per_step as h from runs where model = 'one_layer' and drive = 'sgd' and not bias)
where h * list_max(a) <= 0.02
