-- Of every seed: is the run trapped for good, away from the answer? Training U it must end in a state that the flow
-- does not leave (outcome failed: no gradient, no growing direction). The iteration of W certifies nothing; there a
-- seed counts if it ends above 1 % of L_ref without having left the cone of positive semidefinite matrices (neither
-- artefact nor diverged) and without a step in which the last tenth of its records still falls.
with
-- include: claims/shared/runs,
judged as (
    select *, outcome = 'failed' or (
        model = 'w_recurrence' and outcome = 'plateau' and ood_loss[-1] >= 0.999 * ood_loss[len(ood_loss) * 9 // 10]
    ) as holds
    from runs
    where model in ('symmetric', 'w_recurrence')
)
-- include: claims/shared/fig-10-rows
