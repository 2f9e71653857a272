-- Of every seed: does the growth term of eq 4.2 alone describe an SGD run on one layer, that is, can the noise term be
-- left out at the initialisation used? Largest distance of the output from the growth term, over records and points: at
-- most 5 % of ||x^||.
with
-- include: claims/shared/runs,
-- include: claims/shared/theorem-4-1-terms,
rests as (
    select *, [f[1] - growth[1], f[2] - growth[2]] as rest from terms
),
-- include: claims/shared/theorem-4-1-distance
select
    convention, format('one_layer by SGD, d = {}, bias {}', d, bias) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.05) as k,
    format(
        'largest distance {:.1f} % of ||x^|| (median seed), {:.1f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from seeds
group by convention, d, bias
order by convention, bias
