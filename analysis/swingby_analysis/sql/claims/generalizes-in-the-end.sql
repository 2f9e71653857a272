-- Of every seed of the low-dimensional net: does the run end with an OOD loss of at most 1 % of L_ref (outcome:
-- generalized)?
with
-- include: claims/shared/runs
select
    convention, format('L = {}, d = {}, width {}, lr {}, mu = {}', layers, d, width, lr, mu) as setting,
    count(*) as n,
    count(*) filter (where outcome = 'generalized') as k,
    format(
        'final OOD loss {:.4f} L_ref (median), {:.3f} (largest); generalized {:.0f} %, plateau {:.0f} %, '
        || 'diverged {:.0f} %',
        median(final_ood_loss / l_ref), max(final_ood_loss / l_ref), 100 * avg((outcome = 'generalized')::integer),
        100 * avg((outcome = 'plateau')::integer), 100 * avg((outcome = 'diverged')::integer)
    ) as measured
from runs
where d = s
group by convention, layers, d, width, lr, mu
order by convention, layers, d, width, lr, mu
