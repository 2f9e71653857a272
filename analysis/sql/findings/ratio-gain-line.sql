-- By eq 4.3 to leading order the minor entry rises with the stronger major one, w = w_12, until that has come to
-- p = 2 (a_1 + a_2) / (3 a_1 + a_2), a_1 the larger: from a typical start the OOD loss then rises by 2 w mu_1 mu_2 / ||x^||^2.
-- a normal start has w_pp(0) = gain^2 in the mean, and w_12(0) the standard deviation gain^2 / sqrt(d').
-- Is there more transient memorization where that predicts a rise of over one percent of L_ref than where it does not?
with
-- include: findings/shared/runs,
starts as (
    select
        *, list_max(a) as a_1, list_min(a) as a_2, init_gain ** 2 as w0, init_gain ** 2 / sqrt(width) as w12,
        2 * (list_max(a) + list_min(a)) / (3 * list_max(a) + list_min(a)) as p
    from runs
),
placed as (
    select
        *,
        2 * mu[1] * mu[2] / (mu[1] ** 2 + mu[2] ** 2) * w12 * case when w0 < p then
            (p * (1 - w0) / ((1 - p) * w0)) ** ((a_1 + a_2) / (2 * a_1))
            * ((1 - p) / (1 - w0)) ** ((3 * a_1 + a_2) / (4 * a_1)) else 1 end as rise
    from starts where p < 1
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where rise > 0.01) as predicted,
        avg(swings::integer) filter (where rise <= 0.01) as other
    from placed group by seed
)
select
    (select avg((rise > 0.01)::integer) from placed) as region,
    list(predicted order by seed) as predicted, list(other order by seed) as other,
    list(predicted - other order by seed) as effect
from by_seed
