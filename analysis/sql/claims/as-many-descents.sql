-- Of every seed: does the OOD loss fall at least as many times as there are concepts (descents >= s, by the detector)?
with
-- include: claims/shared/runs
select
    convention, format('{}, {}, s = {}, mu = {}, sigma = {}', model, drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where descents >= s) as k,
    format(
        'descents: {:.2f} on average, {} at most; two or more in {:.0f} %; rise {:.3f} L_ref at most',
        avg(descents), max(descents), 100 * avg((descents >= 2)::integer), max(bump_height)
    ) as measured
from runs
where model = 'symmetric'
group by convention, model, drive, s, mu, sigma
order by convention, model, drive, s, mu, sigma
