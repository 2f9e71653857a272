-- exists: Some minor entry can trap the model for good, short of the answer, at full rank [Fig 10, E.3]
-- asks: Of every seed: is the run trapped for good, away from the answer? Training U it must end in a state that the
--     flow does not leave (outcome failed: no gradient, no growing direction). The iteration of W certifies nothing;
--     there a seed counts if it ends above 1 % of L_ref without having left the cone of positive semidefinite matrices
--     (neither artefact nor diverged) and without a step in which the last tenth of its records still falls.
-- sweeps: figure-10
-- after: Its kind was named when results had been seen: the paper says that it is possible, and exhibits a case.
-- why: Training U, what looks like failure is a long plateau, which ends. The figure iterates W, which is not gradient
--     descent: it gets to the answer, or diverges.
-- setting: {model}, {drive}, mu = {mu}, {gd_steps} steps
-- measured: generalized {count(*) filter (where outcome = 'generalized')}, plateau {count(*) filter (where outcome =
--     'plateau')}, failed {count(*) filter (where outcome = 'failed')}, artefact {count(*) filter (where outcome =
--     'artefact')}, diverged {count(*) filter (where outcome = 'diverged')}; final OOD loss {median(final_ood_loss /
--     l_ref):.3f} L_ref (median)
select
    *,
    coalesce(
        outcome = 'failed' or (
            model = 'w_recurrence' and outcome = 'plateau'
            and ood_loss[-1] >= 0.999 * ood_loss[len(ood_loss) * 9 // 10]
        ),
        false
    ) as holds
from runs
where model in ('symmetric', 'w_recurrence')
