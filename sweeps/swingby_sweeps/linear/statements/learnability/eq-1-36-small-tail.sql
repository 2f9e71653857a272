-- always: With a tail T much below n the strong modes have learnability near 1 [eq 1.36, with T = 1 in place of n]
-- asks: Of every sample with T = 1: is the learnability of the first mode at least .9?
-- sweeps: figure-1-3
-- setting: T = {tail:g}
-- measured: L_1(D) {min(first):.3f} to {max(first):.3f}; theory says {any_value(learnability[1]):.3f}
select *, sample_learnability[1] as first, sample_learnability[1] >= 0.9 as holds from runs where tail = 1
