-- exists: After the steps of the figure the OOD loss is still up [Fig 10]
-- asks: Of every seed: after the 10,000 steps of the code behind the figure, is the OOD loss still above 1 % of L_ref,
--     whatever the reason? Runs that left their bounds before count. Repaired after results were seen: it was asked of
--     the last record, and the sweep was then made longer, to see the plateau end; so the step is named.
-- sweeps: figure-10
-- why: Probably the start and the power of A that drives the model set how long the plateau lasts; it ends, where U is
--     trained.
-- after: The query was repaired: it names the steps of the figure, since the sweep was made longer to see the plateau
--     end. Later its kind was named when results had been seen: the paper exhibits a case.
-- setting: {model}, {drive}, mu = {mu}, {gd_steps} steps in all
-- measured: OOD loss {median(then_loss / l_ref):.4f} L_ref then, {median(final_ood_loss / l_ref):.4f} at the end
--     (medians); in the end generalized {count(*) filter (where outcome = 'generalized')}, plateau {count(*) filter
--     (where outcome = 'plateau')}, failed {count(*) filter (where outcome = 'failed')}, diverged {count(*) filter
--     (where outcome = 'diverged')}
select
    *, ood_loss[len(list_filter(step, lambda at_step: at_step <= 10000))] as then_loss,
    coalesce(not then_loss <= 0.01 * l_ref or (status = 'diverged' and steps <= 10000), false) as holds
from runs
where model in ('symmetric', 'w_recurrence')
