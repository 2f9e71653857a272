-- sweeps: diagram-scalar-grokking
-- asks: Of every seed with alpha of 1 or more: the median delay at small and at middle decays, the share of runs at
--     large ones that never fit their points, and the smaller of: log10 of the ratio of the delays, and that share less
--     one half.
-- fresh fresh-scalar-grokking: More decay shortens the delay, and rarely ends the fit
-- found: From alpha = 1 on, more decay shortens the delay, from {slow:.0f} at decays up to .002 to {fast:.0f} at .02 to
--     .05 (medians), and beyond .1 it ends the fit: {shrunk:.0%} of the runs never fit their points.
-- not found: From alpha = 1 on, more decay does not both shorten the delay and end the fit: [numbers]
-- cannot be told: Whether more decay both shortens the delay and ends the fit cannot be told: [numbers]
-- numbers: the delay is {slow:.0f} at decays up to .002 and {fast:.0f} at .02 to .05 (medians); beyond .1 {shrunk:.0%}
--     of the runs never fit their points.
select
    seed, median(delay) filter (where decay <= 0.002) as slow, median(delay) filter (where decay between 0.02 and 0.05) as fast,
    avg((fate = 'shrunk')::integer) filter (where decay > 0.1) as shrunk, least(log10(slow / fast), shrunk - 0.5) as effect
from runs
where alpha >= 1
group by seed
