-- claim: SGD on one layer follows the growth and noise terms of Theorem 4.1
-- source: Theorem 4.1, eq 4.2
-- order: 2.1
-- sweeps: figure-2a, claim-theorem-4-1
-- rule: share of seeds
-- why: A step of the text's learning rate is a large part of the fastest time constant, which the flow of the theorem
--     leaves out; mini-batches, in which the clusters are never quite even, add to it. With a bias it is silent.
-- setting: one_layer by SGD, d = {d}, bias {bias}
-- measured: largest distance {100 * median(off):.2f} % of ||x^|| (median seed), {100 * max(off):.2f} % (worst)
--
-- Of every seed: does SGD on one layer follow Theorem 4.1, growth plus noise (eq 4.2), within 5 % of ||x^|| at every
-- recorded step and every point of the grid? a_p and W(0) are the run's own; two concepts.
select preset, d, bias, seed, max(theorem_4_1_off) as off, off <= 0.05 as holds
from runs
where model = 'one_layer' and drive = 'sgd'
group by preset, d, bias, seed
