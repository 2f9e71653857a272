-- Of every seed: does the OOD loss fall at least as many times as there are concepts (descents >= s, by the detector: a
-- drop counts from 1 % of L_ref on)? Beside it: in how many seeds it does by drops from 0.1 % of L_ref on.
with
-- include: claims/shared/runs
select
    convention, format('{}, {}, s = {}, mu = {}, sigma = {}', model, drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where descents >= s) as k,
    format(
        'descents of more than 1 % of L_ref: {:.2f} on average, {} at most; two or more in {:.0f} %; rise {:.3f} L_ref '
        || 'at most; by descents of more than 0.1 % as many as concepts in {} of {} seeds',
        avg(descents), max(descents), 100 * avg((descents >= 2)::integer), max(bump_height),
        count(*) filter (where descents_fine >= s), count(descents_fine)
    ) as measured
from runs
where model = 'symmetric'
group by convention, model, drive, s, mu, sigma
order by convention, model, drive, s, mu, sigma
