-- Of every seed: does SGD on one layer follow Theorem 4.1, growth plus noise (eq 4.2), within 5 % of ||x^|| at every
-- recorded step and every point of the grid? a_p and W(0) are the run's own; two concepts.
with
-- include: claims/shared/runs,
-- include: claims/shared/theorem-4-1-terms,
rests as (
    select *, [f[1] - growth[1] - noise[1], f[2] - growth[2] - noise[2]] as rest from terms
),
-- include: claims/shared/theorem-4-1-distance
select
    convention, format('one_layer by SGD, d = {}, bias {}', d, bias) as setting,
    count(*) as n,
    count(*) filter (where off <= 0.05) as k,
    format(
        'largest distance {:.2f} % of ||x^|| (median seed), {:.2f} % (worst)', 100 * median(off), 100 * max(off)
    ) as measured
from seeds
group by convention, d, bias
order by convention, bias
