-- in the mean: The time to memorization grows in proportion to the number of training points [B and F, abstracts]
-- asks: Of every seed: how far from 1 is the slope of ln tau_mem over ln n, over the sizes of which every seed memorizes
--     within the run (three or more)?
-- sweeps: claim-memorization-copies
-- within: 0.2
-- why: It grows faster, the less so the wider the net (diagram-memorization-wide): these nets are small beside their
--     training sets. The effect is the exponent less 1.
-- setting: width {width}
-- measured: tau_mem grows as n^{avg(b):.2f} from {min(fewest)} to {max(most)} points: as n^{avg(first_b):.2f} from the
--     smallest to the next size, as n^{avg(last_b):.2f} between the two largest
with sizes as (
    select
        *, bool_and(tau_mem is not null) over (partition by preset, width, points) as every_seed,
        ln(tau_mem / lag(tau_mem) over (partition by preset, width, seed order by points))
            / ln(points / lag(points) over (partition by preset, width, seed order by points)) as step_b
    from runs
)
select
    preset, width, seed, min(points) as fewest, max(points) as most, regr_slope(ln(tau_mem), ln(points)) as b,
    arg_min(step_b, points) as first_b, arg_max(step_b, points) as last_b, b - 1 as effect
from sizes
where every_seed
group by preset, width, seed
having count(*) >= 3
