-- exists: The two times cross: below some number of training points samples are copies before they are good, above it
--     they are good before they are copies [B, abstract]
-- asks: Of every seed: is there a size of which it memorizes before its samples are good, or never has good ones, and a
--     larger one of which it learns and then memorizes? At widths with three sizes or more.
-- sweeps: claim-memorization-copies
-- setting: width {width}
-- measured: {count(*) filter (where holds)} of {count(*)} seeds
select
    preset, width, seed,
    coalesce(
        min(points) filter (where fate in ('memorizes, never good', 'memorizes before it is good'))
            < max(points) filter (where fate = 'learns, then memorizes'),
        false
    ) as holds
from runs
group by preset, width, seed
having count(*) >= 3
