-- Of every seed: at each point of the grid whose a_1 and a_2 differ, is the concept with the larger a_p learned first?
-- First is the one whose final stretch with r_k >= 0.9 starts earlier (t90). Where a run ends before either gets there,
-- first is the one that is further at the end. A seed counts if this is so at every such point; what cannot be told
-- counts against. Beside it: the share at the two points next to a_1 = a_2, one on each side, and at the others.
with
-- include: claims/shared/runs,
points as (
    select
        *,
        output[-1][1] / mu[1] > output[-1][2] / mu[2] as first_ahead,
        coalesce(
            order_follows_a,
            isinf(t90[1]) and isinf(t90[2]) and (output[-1][1] / mu[1] > output[-1][2] / mu[2]) = (a[1] > a[2])
        ) as holds
    from runs
    where abs(a[1] - a[2]) > 0.01 * greatest(a[1], a[2])
),
sided as (
    select
        *, abs(ln(a[1] / a[2])) as distance,
        distance = min(distance) over (partition by convention, seed, a[1] > a[2]) as beside
    from points
),
seeds as (
    select
        convention, seed, bool_and(coalesce(holds, false)) as holds,
        count(*) as points, count(*) filter (where holds) as right_points,
        count(*) filter (where beside) as near_points, count(*) filter (where beside and holds) as right_near,
        any_value(model) as model, any_value(layers) as layers, any_value(d) as d,
        min(a[1] / a[2]) as least, max(a[1] / a[2]) as most,
        bool_or(a[1] > a[2]) and bool_or(a[1] < a[2]) as both_sides
    from sided
    group by convention, seed
)
select
    convention,
    format(
        '{}, L = {}, d = {}; {} points, a_1/a_2 from {:.3g} to {:.3g}',
        any_value(model), any_value(layers), any_value(d), max(points), min(least), max(most)
    ) as setting,
    count(*) as n,
    count(*) filter (where holds and both_sides) as k,
    format(
        'order right at {:.1f} % of points and seeds: at {:.1f} % next to a_1 = a_2, at {:.1f} % elsewhere',
        100 * sum(right_points) / sum(points), 100 * sum(right_near) / sum(near_points),
        100 * (sum(right_points) - sum(right_near)) / (sum(points) - sum(near_points))
    ) as measured
from seeds
group by convention
order by convention
