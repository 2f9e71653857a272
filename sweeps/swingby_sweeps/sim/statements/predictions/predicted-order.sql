-- asks: Of every seed of which theory speaks: do the concepts arrive in the predicted order (growth from w_pp(0), and
--     the delay by suppression; one layer: Theorem 4.1), at every point of the grid at which it can be told? It cannot
--     where two arrive within one record, or two never, and none is predicted where two signals are within 1 % of each
--     other. Rows by how far the nearest two signals lie apart, over the larger.
-- after: Split: one claim for the flow and for one layer together before. Later the points at which two signals are
--     equal were left out, since the theory predicts no order there, and the distance from them became the axis.
-- setting: {model}, {drive}, s = {s}, d = {d}; the nearest two signals differ by {apart} %
-- measured: another order in {count(*) filter (where not holds)} of {count(holds)} runs
--
-- slug predicted-order: figure-5, figure-8, figure-9
-- in most seeds: The major entries arrive in the order that theory predicts from the start [4.2.1, eq 4.3]
--
-- slug predicted-order-one-layer: figure-2a, claim-order-near-tie
-- in most seeds: One layer: the concepts arrive in the order that the theorem predicts from the start [Theorem 4.1]
with signals as (
    select *, list_sort(a) as up
    from runs
    where predicted_order_right is not null and model <> 'w_recurrence' and drive <> 'closed_form'
),
gaps as (select *, list_min(list_transform(range(1, s), lambda i: 1 - up[i] / up[i + 1])) as gap from signals)
select *, round(100 * gap)::integer as apart, predicted_order_right as holds from gaps where gap > 0.01
