-- Of every seed of the symmetric model with two concepts whose OOD loss has two descents: is the minor entry w_12
-- positive at the start? Seeds with one descent tell nothing; what they start from is told beside it.
with
-- include: claims/shared/runs
select
    convention, format('symmetric, {}, mu = {}', drive, mu) as setting,
    count(*) filter (where non_monotone) as n,
    count(*) filter (where non_monotone and jacobian[1][2] > 0) as k,
    format(
        'w_12(0) > 0 in {} of {} seeds; of these {} have two descents',
        count(*) filter (where jacobian[1][2] > 0), count(*),
        count(*) filter (where jacobian[1][2] > 0 and non_monotone)
    ) as measured
from runs
where model = 'symmetric' and s = 2
group by convention, drive, mu
order by convention, drive, mu
