-- Of every seed that shows a rise of the OOD loss between two descents at some initial scale: is there none at the
-- smallest scale of the grid? The swing-by is to vanish as the initialisation goes to zero. Seeds without a rise at any
-- scale tell nothing.
with
-- include: claims/shared/runs,
seeds as (
    select
        convention, mu, seed, bool_or(non_monotone) as somewhere, arg_min(non_monotone, init_gain) as at_least,
        arg_max(init_gain, bump_height) as gain, max(bump_height) as height
    from runs
    where model = 'symmetric' and s = 2
    group by convention, mu, seed
)
select
    convention, format('symmetric flow, mu = {}', mu) as setting,
    count(*) filter (where somewhere) as n,
    count(*) filter (where somewhere and not at_least) as k,
    coalesce(format(
        'a rise at some scale in {} of {} seeds; highest, {:.3f} L_ref, at init_gain {:.3g} (medians)',
        count(*) filter (where somewhere), count(*), median(height) filter (where somewhere),
        median(gain) filter (where somewhere)
    ), 'no seed shows a rise at any scale') as measured
from seeds
group by convention, mu
order by convention, mu
