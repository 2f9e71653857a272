-- In how many seeds it holds, and how far the OOD loss rises, by depth, dimension, width and signal.
select
    convention, format('L = {}, d = {}, width {}, lr {}, mu = {}', layers, d, width, lr, mu) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format(
        'rise {:.3f} L_ref (median), {:.3f} (largest); transient memorization {:.0f} %, retreat {:.0f} %',
        median(bump_height), max(bump_height),
        100 * avg(coalesce(transient_memorization, false)::integer), 100 * avg(coalesce(retreat, false)::integer)
    ) as measured
from judged
group by convention, layers, d, width, lr, mu
order by convention, layers, d, width, lr, mu
