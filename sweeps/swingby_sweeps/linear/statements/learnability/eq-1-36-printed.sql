-- always: With the tail u = n/(p - d) the strong modes have learnability near 1 [eq 1.36, as printed]
-- asks: Of every sample with the tail of eq 1.36: is the learnability of the first mode at least .9?
-- sweeps: figure-1-3
-- setting: T = n
-- measured: L_1(D) {min(first):.2f} to {max(first):.2f}; kappa = {any_value(kappa):.2f}
-- why: The tail then sums to T = n, so that kappa is about 1 and L about 1/2. The cases of eq 1.36 for L should also
--     read k up to d and k above d; the number for these, (n - d)/(p - d), assumes a kappa much below 1.
select *, sample_learnability[1] as first, sample_learnability[1] >= 0.9 as holds from runs where tail = 100
