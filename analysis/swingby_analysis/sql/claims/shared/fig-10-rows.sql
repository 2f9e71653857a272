-- In how many seeds it holds, and how the runs end.
select
    convention, format('{}, {}, mu = {}, {} steps', model, drive, mu, gd_steps) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format(
        'generalized {}, plateau {}, failed {}, artefact {}, diverged {}; final OOD loss {:.3f} L_ref (median)',
        count(*) filter (where outcome = 'generalized'), count(*) filter (where outcome = 'plateau'),
        count(*) filter (where outcome = 'failed'), count(*) filter (where outcome = 'artefact'),
        count(*) filter (where outcome = 'diverged'), median(final_ood_loss / l_ref)
    ) as measured
from judged
group by convention, model, drive, mu, gd_steps
order by convention, model, drive, mu, gd_steps
