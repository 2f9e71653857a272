-- sweeps: diagram-scalar-start
-- asks: Of every seed: the shares of lazy runs in wide and in narrow nets, on either side of Z = p, and the smaller of
--     the two differences, each in the direction in which Sigma_0 = sd^2 p^(1-z) moves.
-- fresh fresh-scalar-start: The width acts in opposite directions on either side of Z = p
-- found: The width acts in opposite directions on either side of the mean field's Z = p: [numbers]
-- not found: The width does not act in opposite directions on either side of Z = p: [numbers]
-- cannot be told: Whether the width acts in opposite directions on either side of Z = p cannot be told: [numbers]
-- numbers: with z at most .9, {below_wide:.0%} of the runs with a thousand pairs are lazy and {below_narrow:.0%} of
--     those with ten; with z at least 1.1, {above_wide:.0%} and {above_narrow:.0%}.
select
    seed,
    avg(lazy::integer) filter (where width = 1000 and divisor_power <= 0.9) as below_wide,
    avg(lazy::integer) filter (where width = 10 and divisor_power <= 0.9) as below_narrow,
    avg(lazy::integer) filter (where width = 1000 and divisor_power >= 1.1) as above_wide,
    avg(lazy::integer) filter (where width = 10 and divisor_power >= 1.1) as above_narrow,
    least(below_wide - below_narrow, above_narrow - above_wide) as effect
from wide_runs
group by seed
