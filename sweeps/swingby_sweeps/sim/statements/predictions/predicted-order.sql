-- rule: share of seeds
-- after: Split: one claim for the flow and for one layer together before. The predicate is the same.
-- setting: {model}, {drive}, s = {s}, d = {d}
-- measured: {count(*) filter (where not holds)} runs in another order, {count(*) filter (where not holds and nearest <=
--     1.01)} of them with two a_p that are equal
--
-- slug: predicted-order
-- claim: The major entries arrive in the order that theory predicts from the start
-- source: 4.2.1, eq 4.3
-- order: 5.1
-- sweeps: figure-5, figure-8, figure-9
--
-- slug: predicted-order-one-layer
-- claim: One layer: the concepts arrive in the order that the theorem predicts from the start
-- source: Theorem 4.1
-- order: 5.3
-- sweeps: figure-2a
-- why: All wrong runs are those in which the signals are equal: the order then hangs on the initial weights, and
--     probably on the noise of SGD.
--
-- Of every seed of which theory speaks: do the concepts arrive in the predicted order (growth from w_pp(0), and the
-- delay by suppression; one layer: Theorem 4.1), at every point of the grid at which it can be told? It cannot where
-- two arrive within one record, or two never. Also measured: how many of the wrong runs have two a_p within 1 % of each
-- other.
select
    *, list_sort(a) as up, list_min(list_transform(range(1, s), lambda i: up[i + 1] / up[i])) as nearest,
    predicted_order_right as holds
from runs
where predicted_order_right is not null and model <> 'w_recurrence' and drive <> 'closed_form'
