-- Of every seed of which theory speaks: do the concepts arrive in the predicted order (growth from w_pp(0), and the
-- delay by suppression; one layer: Theorem 4.1), at every point of the grid at which it can be told? It cannot where
-- two arrive within one record, or two never. Beside it: how many of the wrong runs have two a_p within 1 % of each
-- other.
with
-- include: claims/shared/runs,
-- include: claims/shared/theory,
tied as (
    select
        *, list_sort(a) as up, list_min(list_transform(range(1, s), lambda i: up[i + 1] / up[i])) as nearest
    from with_theory
),
seeds as (
    select
        convention, model, drive, s, d, seed, bool_and(predicted_order_right) as holds,
        count(*) filter (where not predicted_order_right) as wrong,
        count(*) filter (where not predicted_order_right and nearest <= 1.01) as wrong_tied
    from tied
    where predicted_order_right is not null and model <> 'w_recurrence' and drive <> 'closed_form'
    group by all
)
select
    convention, format('{}, {}, s = {}, d = {}', model, drive, s, d) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format('{} runs in another order, {} of them with two a_p that are equal', sum(wrong), sum(wrong_tied)) as measured
from seeds
group by convention, model, drive, s, d
order by convention, model, drive, s
