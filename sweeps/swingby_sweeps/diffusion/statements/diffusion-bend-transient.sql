-- in most seeds: Diffusion: the bend is transient [Fig 6a, 5]
-- asks: Of every seed at a contrast: is the bend of the path of the held-out class transient? That is: after its
--     largest distance from the straight way the path comes back, by more than the detector's threshold and to half of
--     that distance or less. Runs without a bend beyond the threshold tell nothing, and neither do those in which a
--     return by half could not have been seen. Rows by judge and contrast. Repaired after results were seen: every run
--     with a bend told before.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: The query was repaired: every run with a bend told, so that one alone gave the verdict, and those counted
--     against it of which a return by half could not have been seen.
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('largest distance from the straight way: {:.3g} (median), {:.3g} to {:.3g}',
--     median(value), min(value), max(value)), 'nothing is told of any run')}{coalesce(format('; threshold: {:.3g}
--     (median), {:.3g} to {:.3g}', median(threshold), min(threshold), max(threshold)), '')}
select
    *, return_threshold as threshold, abs(bend) as value,
    case when bend_toward in ('color', 'size') and return_threshold < abs(bend) / 2 then
        coalesce(transient_bend, false)
    end as holds
from by_judge
