-- Theory places two gains g for each depth L and width h. A normal start stretches by g in each layer, but by g sqrt(h/d)
-- in the first, whose fan-in is d. Below the first gain a start is too small to leave the first plateau in the time T of
-- the run: layers that grow alike, k' = a_p k^(L - 1) (Saxe et al. 2014) from k = g (h/d)^(1/2L), take
-- 1 / ((L - 2) a_p k^(L - 2)). Above the second it is too steep: lr a_p g^(2 (L - 1)) (1 + (L - 1) h/d) > 2. How do the
-- runs below, between and above end?
with
-- include: findings/shared/runs,
-- Repaired after results had been seen: the first layer's fan-in had been left out of both lines.
placed as (
    select
        *,
        case when layers > 2 then
            (1 / ((layers - 2) * list_min(a) * planned * time_per_step)) ** (1 / (layers - 2))
            / (width / d) ** (1 / (2 * layers))
        else 0 end as least,
        case when layers > 1 then
            (2 / (lr * list_max(a) * (1 + (layers - 1) * width / d))) ** (1 / (2 * (layers - 1)))
        end as most
    from (select *, epochs * ceil(s * n / batch_size) as planned from runs)
),
by_seed as (
    select
        seed,
        avg((outcome in ('plateau', 'failed'))::integer) filter (where init_gain < least) as below,
        avg((outcome = 'generalized')::integer) filter (
            where init_gain between least and coalesce(most, 1e9)
        ) as between_them,
        avg((outcome = 'diverged')::integer) filter (where init_gain > most) as above
    from placed group by seed
)
select
    list(below order by seed) as below, list(between_them order by seed) as between_them,
    list(above order by seed) as above, list(below - 0.5 order by seed) as effect,
    list(between_them - 0.5 order by seed) as effect_2, list(above - 0.5 order by seed) as effect_3
from by_seed
