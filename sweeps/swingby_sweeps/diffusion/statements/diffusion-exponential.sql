-- in most seeds: Diffusion: an exponential describes how learning slows down [Fig 6c, 5]
-- asks: Of every seed at a contrast: does an exponential describe how learning slows down? The line through the
--     logarithm of the speed |dC/dt| in concept space against the step, from the fastest on and as far as it stands out
--     of its noise, has to fall, with R^2 >= 0.8. Runs with too few such speeds tell nothing. Rows by judge and
--     contrast.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('R^2: {:.3g} (median), {:.3g} to {:.3g}', median(value), min(value), max(value)), 'nothing
--     is told of any run')}
select
    *, speed_rate_r2 as value,
    case when speed_rate_r2 is not null then coalesce(speed_rate < 0 and speed_rate_r2 >= 0.8, false) end as holds
from by_judge
