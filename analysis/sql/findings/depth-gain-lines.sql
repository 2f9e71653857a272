-- Theory places two gains g for each depth L. Below the first a start is too small to leave the first plateau in the
-- time T of the run: layers that grow alike, g' = a_p g^(L - 1) (Saxe et al. 2014), take 1 / ((L - 2) a_p g^(L - 2)).
-- Above the second the start is too steep: lr L a_p g^(2 (L - 1)) > 2. How do the runs below, between and above end?
with
-- include: findings/shared/runs,
placed as (
    select
        *,
        case when layers > 2 then (1 / ((layers - 2) * list_min(a) * steps_planned * time_per_step)) ** (1 / (layers - 2))
             else 0 end as least,
        case when layers > 1 then (2 / (lr * layers * list_max(a))) ** (1 / (2 * (layers - 1))) end as most
    from (select *, epochs * ceil(s * n / batch_size) as steps_planned from runs)
),
by_seed as (
    select
        seed,
        avg((outcome in ('plateau', 'failed'))::integer) filter (where init_gain < least) as below,
        avg((outcome = 'generalized')::integer) filter (where init_gain between least and coalesce(most, 1e9)) as between_them,
        avg((outcome = 'diverged')::integer) filter (where init_gain > most) as above
    from placed group by seed
)
select
    list(below order by seed) as below, list(between_them order by seed) as between_them,
    list(above order by seed) as above, list(below - 0.5 order by seed) as effect,
    list(between_them - 0.5 order by seed) as effect_2, list(above - 0.5 order by seed) as effect_3
from by_seed
