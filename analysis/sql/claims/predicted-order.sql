-- Of every seed of which theory speaks: do the concepts arrive in the predicted order (growth from w_pp(0), and the
-- delay by suppression; one layer: Theorem 4.1), at every point of the grid at which it can be told? It cannot where
-- two arrive within one record, or two never.
with
-- include: claims/shared/runs,
-- include: claims/shared/theory,
seeds as (
    select
        convention, model, drive, s, d, seed, bool_and(predicted_order_right) as holds, avg(times_within_tenth) as tenth
    from with_theory
    where predicted_order_right is not null and model <> 'w_recurrence' and drive <> 'closed_form'
    group by all
)
-- include: claims/shared/predicted-rows
