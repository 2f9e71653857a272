-- always: Learnabilities sum to the number of points [eq 1.35, second equation]
-- asks: Of every sample that is fitted, not in the mean alone: is the sum of L_k(D) over all modes n?
-- sweeps: claim-linear-learnability, claim-linear-kernel
-- setting: {features}
-- measured: sum of L_k(D) over n, less 1: {min(off):.0e} to {max(off):.0e}
select *, sample_learned_modes / n - 1 as off, abs(sample_learned_modes / n - 1) < 1e-6 as holds from runs where full_rank
