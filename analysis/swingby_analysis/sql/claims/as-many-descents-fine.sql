-- Of every seed without sampling noise: does the OOD loss fall at least as many times as there are concepts, where
-- every drop of more than 0.1 % of L_ref counts (descents_fine >= s)? A run of the flow has no noise that a threshold
-- would have to keep out; runs by mini-batches tell nothing.
with
-- include: claims/shared/runs
select
    convention, format('{}, {}, s = {}, mu = {}, sigma = {}', model, drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where descents_fine >= s) as k,
    format(
        'descents of more than 0.1 % of L_ref: {:.2f} on average, {} at most; two or more in {:.0f} %; by those of '
        || 'more than 1 % as many as concepts in {} of {} seeds',
        avg(descents_fine), max(descents_fine), 100 * avg((descents_fine >= 2)::integer),
        count(*) filter (where descents >= s), count(*)
    ) as measured
from runs
where model = 'symmetric' and descents_fine is not null
group by convention, model, drive, s, mu, sigma
order by convention, model, drive, s, mu, sigma
