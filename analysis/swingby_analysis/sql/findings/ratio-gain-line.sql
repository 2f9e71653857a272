-- By eq 4.3 to leading order, w being the stronger major entry (signal a_1) and 1 - w what is left of it, the minor entry
-- goes as w^((a_1 + a_2) / (2 a_1)) (1 - w)^((a_1 - a_2) / (4 a_1)), and the loss over L_ref rises from the least value of
-- (mu_1^2 (1 - w)^2 - 2 mu_1 mu_2 w_12 (2 - w)) / ||x^||^2 to 0. A normal start has w_pp(0) = gain^2 in the mean, and w_12(0) the standard deviation gain^2 / sqrt(d').
-- Is there more transient memorization where that predicts a rise of over one percent of L_ref than where it does not?
with
-- include: findings/shared/runs,
-- Repaired after results had been seen: the rise had been taken from the peak of w_12, and not from the loss's own trough.
starts as (
    select
        *, list_max(a) as a_1, list_min(a) as a_2, list_max(mu) as mu_1, list_min(mu) as mu_2,
        init_gain ** 2 as w0, init_gain ** 2 / sqrt(width) as w12
    from runs
),
-- include: findings/shared/rises
select
    (select avg((rise > 0.01)::integer) from rises) as region,
    list(predicted order by seed) as predicted, list(other order by seed) as other,
    list(predicted - other order by seed) as effect
from by_seed
