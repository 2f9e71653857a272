-- Of every seed: can the second part of Assumption D.5, a_i - 3 a_j >= alpha/C for i > j, hold with the a_p in
-- descending order, as the main text has them? With C of the detector `theory`.
with
-- include: claims/shared/runs,
-- include: claims/shared/theory
select
    convention, format('s = {}, mu = {}', s, mu) as setting,
    count(distinct seed) as n,
    count(distinct seed) filter (where d_5_gap_descending) as k,
    format(
        'ascending it holds in {} seeds; all of App. D''s assumptions in {}',
        count(distinct seed) filter (where d_5_gap_ascending), count(distinct seed) filter (where all_assumptions)
    ) as measured
from with_theory
where model = 'symmetric' and d = s and d_5_gap_descending is not null
group by convention, s, mu
order by convention, s, mu
