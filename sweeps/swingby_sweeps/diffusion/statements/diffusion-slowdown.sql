-- in most seeds: Diffusion: learning slows down exponentially rather than as a power of time [Fig 6c, 5]
-- asks: Of every seed at a contrast: does learning slow down exponentially rather than as a power of time? The speed
--     |dC/dt| in concept space, from its fastest on and as far as it stands out of its noise, is fitted by either law;
--     a seed counts if the exponential one has the larger R^2, by more than 0.1, of 0.5 or more. Runs of which R^2 is
--     within 0.1, and those with too few speeds to fit, tell nothing. Rows by judge and contrast.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('R^2 of the exponential less that of the power law: {:.3g} (median), {:.3g} to {:.3g}',
--     median(value), min(value), max(value)), 'nothing is told of any run')}
select
    *, speed_rate_r2 - speed_power_r2 as value,
    case when slowdown <> 'either' then slowdown = 'exponential' end as holds
from by_judge
