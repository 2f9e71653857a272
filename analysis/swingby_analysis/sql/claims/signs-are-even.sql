-- Is each minor entry of W(0) positive in half of the seeds? One entry a seed (w_12). A statement about all seeds
-- together: true if the share of positive ones lies within 1.96 standard errors, 1/(2 sqrt(n)) each, of one half, false
-- if not. Where it does, but these are more than a tenth, the seeds are too few to tell. Repaired after results were
-- seen: it counted all seeds where the share agreed, and agreed however few the seeds were.
with
-- include: claims/shared/runs,
counts as (
    select
        convention, init, s, count(*) as seeds, avg((jacobian[1][2] > 0)::integer) as share, 0.5 / sqrt(count(*)) as se
    from runs
    where model = 'symmetric'
    group by convention, init, s
),
told as (
    select *, abs(share - 0.5) <= 1.96 * se as agrees, not agrees or 1.96 * se <= 0.1 as tells from counts
)
select
    convention, format('U {}, s = {}', init, s) as setting,
    tells::integer as n,
    (tells and agrees)::integer as k,
    format(
        'w_12(0) > 0 in {:.1f} % of {} seeds; expected 50 % +- {:.1f} % (standard error)', 100 * share, seeds, 100 * se
    ) as measured
from told
order by convention, s
