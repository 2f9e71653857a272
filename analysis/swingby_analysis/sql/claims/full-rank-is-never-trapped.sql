-- Of every seed with as many columns in U as concepts (rank(U_0) = s): does the run not end in a certified failure
-- (outcome failed: no gradient and no growing direction)? A plateau is still moving.
with
-- include: claims/shared/runs
select
    convention, format('symmetric, {}, s = {}, mu = {}', drive, s, mu) as setting,
    count(*) as n,
    count(*) filter (where outcome <> 'failed') as k,
    format(
        'generalized {}, plateau {}, failed {}, diverged {}', count(*) filter (where outcome = 'generalized'),
        count(*) filter (where outcome = 'plateau'), count(*) filter (where outcome = 'failed'),
        count(*) filter (where outcome = 'diverged')
    ) as measured
from runs
where model = 'symmetric' and rank0 = s
group by convention, drive, s, mu
order by convention, drive, s, mu
