-- always: The correction counts most for small alpha [C.1, Fig C.1]
-- asks: Of every two neighbours in alpha: is the exponent over time farther from -alpha/(alpha + 1), as a share of it,
--     at the smaller alpha? Their smaller alpha stands for a seed.
-- sweeps: figure-c-1
-- least: 3
-- setting: {skills} skills
-- measured: bias {100 * max(bias):.1f} % at alpha = {arg_max(alpha, bias):g}, {100 * min(bias):.2f} % at alpha =
--     {arg_min(alpha, bias):g}
select *, bias > next_bias as holds
from (
    select *, lead(bias) over (partition by preset, model, skills order by alpha) as next_bias from by_alpha
)
where next_bias is not null
