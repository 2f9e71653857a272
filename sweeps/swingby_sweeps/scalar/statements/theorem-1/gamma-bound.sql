-- always: Gamma_+ is at least S/Sigma_0, and gamma grows exactly where S > S_0 [6.3.1, Theorem 1]
-- asks: Of every seed: where a run with S > 0 has settled, is Sigma + theta over its start at least S/Sigma_0, and
--     above 1 exactly where S > S_0 (with room for |theta - S| of a settled run)? Negative targets are outside the
--     theorem's words.
-- sweeps: claim-scalar-theorem, claim-scalar-richer, claim-scalar-downscaling, claim-scalar-ntk
-- setting: all starts and normalisations
-- measured: gamma_+ over S/Sigma_0 from {min(gamma_end / target_ratio):.4g} on, at {count(*)} ends of runs
select
    *,
    gamma_end >= target_ratio * 0.998
    and ((gamma_end > 1) = (target > start_overlap) or abs(gamma_end - 1) < 1e-3) as holds
from runs
where target > 0 and settled
