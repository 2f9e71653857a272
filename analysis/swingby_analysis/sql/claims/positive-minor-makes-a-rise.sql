-- Of every seed of the symmetric model with two concepts whose minor entry w_12 is positive at the start: does the OOD
-- loss have two descents? Seeds that start with a negative one tell nothing.
with
-- include: claims/shared/runs,
peaks as (
    select *, list_max(list_transform(jacobian, lambda w: w[2])) as peak
    from runs
    where model = 'symmetric' and s = 2 and jacobian[1][2] > 0
)
select
    convention, format('symmetric, {}, mu = {}', drive, mu) as setting,
    count(*) as n,
    count(*) filter (where non_monotone) as k,
    format(
        'rise {:.4f} L_ref (median), {:.4f} (largest); w_12 comes to {} with two descents, to {} without (medians)',
        median(bump_height), max(bump_height),
        coalesce(format('{:.3f}', median(peak) filter (where non_monotone)), 'no seed'),
        coalesce(format('{:.3f}', median(peak) filter (where not non_monotone)), 'no seed')
    ) as measured
from peaks
group by convention, drive, mu
order by convention, drive, mu
