-- asks: Of every seed, away from the tie of the signals: is the concept with the larger a_p learned first? First is the
--     one whose final stretch with r_k >= 0.9 starts earlier (t90). Where a run ends before either gets there, first is
--     the one that is further at the end; what cannot be told counts against. Rows by the distance from the tie, |a_1 -
--     a_2| over the larger, from 10 % on; how near to the tie the order can be relied on is measured with its reversal,
--     below.
-- after: Asked by the distance of the signals from their tie: a seed counted only if the order was right at every
--     point, next to the tie as well, where the initial weights decide.
-- setting: {any_value(model)}, L = {any_value(layers)}, d = {any_value(d)}; the signals differ by {apart} %, {stronger}
-- measured: order right in {100 * avg(order_right::integer):.0f} % of runs
--
-- slug fig-2a-order: figure-2a
-- in most seeds: One layer: the concept with the stronger signal is learned first [Fig 2a, 3.1]
--
-- slug fig-2b-order: figure-2b
-- in most seeds: One layer: the concept with the more diverse data, hence the larger a_p, is learned first [Fig 2b,
--     3.1]
--
-- slug fig-11-order: figure-11
-- in most seeds: Two linear layers: the order of the concepts follows a_p [Fig 11, F.2]
--
-- slug fig-12-order: figure-12
-- in most seeds: Two ReLU layers: the order of the concepts follows a_p [Fig 12, F.2]
-- why: The misses are not only next to the reversal. Probably the rates of a ReLU net are not the a_p, but those of the
--     units that are active for a concept.
with points as (
    select
        *, abs(a[1] - a[2]) / greatest(a[1], a[2]) as gap,
        coalesce(
            order_follows_a,
            isinf(t90[1]) and isinf(t90[2]) and (output[-1][1] / mu[1] > output[-1][2] / mu[2]) = (a[1] > a[2]),
            false
        ) as order_right
    from runs
)
select
    *, round(100 * gap)::integer as apart, if(a[1] > a[2], 'the first stronger', 'the second stronger') as stronger,
    order_right as holds
from points
where gap >= 0.1
