-- rule: share of seeds
-- setting: {any_value(model)}, L = {any_value(layers)}, d = {any_value(d)}; {max(points)} points, a_1/a_2 from
--     {min(a[1] / a[2]):.3g} to {max(a[1] / a[2]):.3g}
-- measured: order right at {100 * avg(order_right::integer):.1f} % of points and seeds: at {100 *
--     avg(order_right::integer) filter (where beside):.1f} % next to a_1 = a_2, at {100 * avg(order_right::integer)
--     filter (where not beside):.1f} % elsewhere
--
-- slug: fig-2a-order
-- claim: One layer: the concept with the stronger signal is learned first
-- source: Fig 2a, 3.1
-- order: 1.1
-- sweeps: figure-2a
--
-- slug: fig-2b-order
-- claim: One layer: the concept with the more diverse data, hence the larger a_p, is learned first
-- source: Fig 2b, 3.1
-- order: 1.3
-- sweeps: figure-2b
-- why: The misses lie at the points next to the reversal, where the two concepts come nearly together. There probably
--     the initial weights decide.
--
-- slug: fig-11-order
-- claim: Two linear layers: the order of the concepts follows a_p
-- source: Fig 11, F.2
-- order: 1.5
-- sweeps: figure-11
-- why: The misses lie at the points next to the reversal, where the two concepts come nearly together. There probably
--     the initial weights decide.
--
-- slug: fig-12-order
-- claim: Two ReLU layers: the order of the concepts follows a_p
-- source: Fig 12, F.2
-- order: 1.6
-- sweeps: figure-12
-- why: The misses are not only next to the reversal. Probably the rates of a ReLU net are not the a_p, but those of the
--     units that are active for a concept.
--
-- Of every seed: at each point of the grid whose a_1 and a_2 differ, is the concept with the larger a_p learned first?
-- First is the one whose final stretch with r_k >= 0.9 starts earlier (t90). Where a run ends before either gets there,
-- first is the one that is further at the end. A seed counts if this is so at every such point; what cannot be told
-- counts against. Also measured: the share at the two points next to a_1 = a_2, one on each side, and at the others.
with points as (
    select
        *, abs(ln(a[1] / a[2])) as distance,
        coalesce(
            order_follows_a,
            isinf(t90[1]) and isinf(t90[2]) and (output[-1][1] / mu[1] > output[-1][2] / mu[2]) = (a[1] > a[2]),
            false
        ) as order_right
    from runs
    where abs(a[1] - a[2]) > 0.01 * greatest(a[1], a[2])
)
select
    preset, model, layers, d, seed, a, order_right,
    distance = min(distance) over (partition by preset, seed, a[1] > a[2]) as beside,
    count(*) over one as points,
    order_right and bool_or(a[1] > a[2]) over one and bool_or(a[1] < a[2]) over one as holds
from points
window one as (partition by preset, seed)
