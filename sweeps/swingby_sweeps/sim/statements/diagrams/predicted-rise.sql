-- order: 3
-- rule: effect over seeds
-- found: There is more transient memorization where eq 4.3 predicts it of a typical start ({any_value(region):.0%} of
--     the grid) than elsewhere: {predicted:.0%} of the runs against {other:.0%}.
-- not found: There is less transient memorization where eq 4.3 predicts it of a typical start ({any_value(region):.0%}
--     of the grid) than elsewhere: {predicted:.0%} of the runs against {other:.0%}.
-- cannot be told: Whether there is more transient memorization where eq 4.3 predicts it of a typical start
--     ({any_value(region):.0%} of the grid) cannot be told: {predicted:.0%} of the runs against {other:.0%}.
--
-- slug: ratio-gain-line
-- sweeps: diagram-ratio-gain
--
-- slug: ratio-start-line
-- sweeps: diagram-ratio-start
--
-- By eq 4.3 to leading order, w being the stronger major entry (signal a_1) and 1 - w what is left of it, the minor
-- entry goes as w^((a_1 + a_2) / (2 a_1)) (1 - w)^((a_1 - a_2) / (4 a_1)), and the loss over L_ref rises from the least
-- value of (mu_1^2 (1 - w)^2 - 2 mu_1 mu_2 w_12 (2 - w)) / ||x^||^2 to 0. A uniform start has w_pp(0) = d' high^2 / 3
-- and w_12(0) = d' high^2 / 4 in the mean. Is there more transient memorization where that predicts a rise of over one
-- percent of L_ref than where it does not?
-- Repaired after results had been seen: the rise had been taken from the peak of w_12, and not from the loss's own trough.
with starts as (
    select
        *, list_max(a) as a_1, list_min(a) as a_2, list_max(mu) as mu_1, list_min(mu) as mu_2,
        if(init = 'normal', init_gain ** 2, width * init_high ** 2 / 3) as w0,
        if(init = 'normal', init_gain ** 2 / sqrt(width), width * init_high ** 2 / 4) as w12
    from placed
),
points as (
    select distinct point, a_1, a_2, mu_1, mu_2, w0, w12 from starts where a_1 > a_2 and w0 < 1
),
losses as (  -- `remaining` is 1 - w, from 1 - w(0) down to 1e-9
    select
        *, (1 - w0) * (1e-9 / (1 - w0)) ** (place / 399) as remaining
    from points, range(400) places(place)
),
rises as (
    select
        point,
        -min(
            (mu_1 * remaining) ** 2
            - 2 * mu_1 * mu_2 * (1 + remaining) * w12 * ((1 - remaining) / w0) ** ((a_1 + a_2) / (2 * a_1))
            * (remaining / (1 - w0)) ** ((a_1 - a_2) / (4 * a_1))
        ) / any_value(mu_1 ** 2 + mu_2 ** 2) as rise
    from losses
    group by point
)
select
    seed, (select avg((rise > 0.01)::integer) from rises) as region,
    avg(swings::integer) filter (where rise > 0.01) as predicted,
    avg(swings::integer) filter (where rise <= 0.01) as other,
    predicted - other as effect
from placed join rises using (point)
group by seed
