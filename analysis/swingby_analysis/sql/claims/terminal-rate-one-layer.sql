-- Of every seed: is the terminal rate of concept k the theorem's a_k, within 15 %, for every k and point of the grid?
-- One layer, SGD; the rate of log |r_k - 1| in the time of the flow of L, fitted by the detector (which takes the
-- initial-noise term off where there is no bias). Seeds whose runs end before the terminal phase tell nothing. Beside
-- it: the rate over -log(1 - h a_k) / h, that of a descent in steps of h.
with
-- include: claims/shared/runs,
rates as (
    select convention, seed, d, bias, time_per_step as h, unnest(terminal_rate) as rate, unnest(a) as a
    from runs
    where model = 'one_layer' and terminal_rate is not null
)
select
    convention, format('one_layer, d = {}, bias {}', d, bias) as setting,
    count(distinct seed) as n,
    count(distinct seed) - count(distinct seed) filter (where not abs(rate / a - 1) <= 0.15) as k,
    format(
        'rate / a_k {:.3f} (median), {:.3f} to {:.3f} (all fits); over that of a descent in steps {:.3f} (median)',
        median(rate / a), min(rate / a), max(rate / a), median(rate * h / -ln(1 - h * a)) filter (where h * a < 1)
    ) as measured
from rates
where rate is not null
group by convention, d, bias
order by convention, d, bias
