-- The rise of the loss over L_ref that eq 4.3 predicts at each point, to leading order, from w(0) and w_12(0) of `starts`; and,
-- of every seed, how often there is transient memorization where that is over one percent, and where it is not.
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
    from losses group by point
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where rise > 0.01) as predicted,
        avg(swings::integer) filter (where rise <= 0.01) as other
    from runs join rises using (point) group by seed
)
