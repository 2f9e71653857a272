-- Of every seed: is the terminal slow-down exponential? The detector fits log |r_k - 1| (symmetric model: log |1 -
-- w_kk| / w_kk) over its last visit to [0.02, 0.3]. A seed counts if every such fit, over concepts and points of the
-- grid, has R^2 >= 0.95. Seeds whose runs end before they come into that band tell nothing.
with
-- include: claims/shared/runs,
fits as (
    select
        convention, seed, model, layers, d, list_max(a) >= 2 * list_min(a) as apart, unnest(terminal_r2) as r2
    from runs
    where terminal_r2 is not null
)
select
    convention,
    format('{}, L = {}, d = {}', model, layers, string_agg(distinct d::varchar, ', ' order by d::varchar)) as setting,
    count(distinct seed) as n,
    count(distinct seed) - count(distinct seed) filter (where r2 < 0.95) as k,
    format(
        'R^2 {:.3f} (median fit), {:.3f} (worst of {}); below 0.95: {} where some a_p is twice another, {} elsewhere',
        median(r2), min(r2), count(r2),
        coalesce(format('{:.1f} %', 100 * avg((r2 < 0.95)::integer) filter (where apart)), 'no fit'),
        coalesce(format('{:.1f} %', 100 * avg((r2 < 0.95)::integer) filter (where not apart)), 'no fit')
    ) as measured
from fits
where r2 is not null
group by convention, model, layers
order by convention, model, layers
