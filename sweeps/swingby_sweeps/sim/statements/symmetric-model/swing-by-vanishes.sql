-- claim: The swing-by vanishes as the initial scale goes to zero
-- source: said beside 4.2
-- order: 4.19
-- sweeps: claim-omega
-- rule: share of seeds
-- why: It misses only where the signals are close: there the exponent is small, and the swing-by shrinks slowly.
-- setting: symmetric flow, mu = {mu}
-- measured: {coalesce(format('a rise at some scale in {} of {} seeds; highest, {:.3f} L_ref, at init_gain {:.3g}
--     (medians)', count(*) filter (where somewhere), count(*), median(height) filter (where somewhere), median(gain)
--     filter (where somewhere)), 'no seed shows a rise at any scale')}
--
-- Of every seed that shows a rise of the OOD loss between two descents at some initial scale: is there none at the
-- smallest scale of the grid? The swing-by is to vanish as the initialisation goes to zero. Seeds without a rise at any
-- scale tell nothing.
select
    preset, mu, seed, bool_or(non_monotone) as somewhere,
    arg_max(init_gain, bump_height) as gain, max(bump_height) as height,
    case when somewhere then coalesce(not arg_min(non_monotone, init_gain), false) end as holds
from runs
where model = 'symmetric' and s = 2
group by preset, mu, seed
