-- Of every seed: after the 10,000 steps of the code behind the figure, is the OOD loss still above 1 % of L_ref,
-- whatever the reason? Runs that left their bounds before count. Repaired after results were seen:
-- it was asked of the last record, and the sweep was then made longer, to see the plateau end; so the step is named.
with
-- include: claims/shared/runs,
losses as (
    select *, ood_loss[len(list_filter(step, lambda at_step: at_step <= 10000))] as then_loss
    from runs
    where model in ('symmetric', 'w_recurrence')
)
select
    convention, format('{}, {}, mu = {}, {} steps in all', model, drive, mu, gd_steps) as setting,
    count(*) as n,
    count(*) filter (where not then_loss <= 0.01 * l_ref or (status = 'diverged' and steps <= 10000)) as k,
    format(
        'OOD loss {:.4f} L_ref then, {:.4f} at the end (medians); in the end generalized {}, plateau {}, failed {}, '
        || 'diverged {}', median(then_loss / l_ref), median(final_ood_loss / l_ref),
        count(*) filter (where outcome = 'generalized'),
        count(*) filter (where outcome = 'plateau'), count(*) filter (where outcome = 'failed'),
        count(*) filter (where outcome = 'diverged')
    ) as measured
from losses
group by convention, model, drive, mu, gd_steps
order by convention, model, drive
