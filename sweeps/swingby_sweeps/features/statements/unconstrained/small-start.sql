-- law: From small starts features collapse at the time that follows from the start in closed form [our extension of
--     (3.15) to starts in any direction, unequal classes and decay]
-- asks: Of every seed: how far is the time of collapse from the law's, in units of the law's? What the law neglects,
--     the part of the start that does not grow and what differs within classes, acts in second order of the start.
-- sweeps: claim-unconstrained-small-start
-- within: 0.01
-- slope: 2
-- setting: l_W = l_H = {decay_w:g}
-- measured: median error {100 * median(error) filter (where start > 0.2):.2g} % at a start of .3, {100 * median(error)
--     filter (where start < 0.02):.1e} % at .01
select *, start as parameter, abs(collapse_time / predicted_collapse_time - 1) as error
from runs
where collapse_time is not null and predicted_collapse_time is not null
