-- claim: The correction counts most for small alpha
-- source: C.1, Fig C.1
-- order: 4.2
-- sweeps: figure-c-1
-- rule: always
-- least: 3
-- setting: {skills} skills
-- measured: bias {100 * max(bias):.1f} % at alpha = {arg_max(alpha, bias):g}, {100 * min(bias):.2f} % at alpha =
--     {arg_min(alpha, bias):g}
--
-- Of every two neighbours in alpha: is the exponent over time farther from -alpha/(alpha + 1), as a share of it, at the
-- smaller alpha? Their smaller alpha stands for a seed.
select *, bias > next_bias as holds
from (
    select *, lead(bias) over (partition by preset, model, skills order by alpha) as next_bias from by_alpha
)
where next_bias is not null
