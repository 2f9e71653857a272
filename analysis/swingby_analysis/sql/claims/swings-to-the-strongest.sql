-- Of every seed with a rise between two descents, d = s: at the top of the largest rise, is the nearest of the centres,
-- however far, mu_p e_p (and of the origin, where a cluster lies there) that of the concept with the largest a_p? Seeds
-- without a rise tell nothing. Beside it: how often the training loss is higher at the top than where the rise began.
with
-- include: claims/shared/runs,
tops as (
    select
        *, output[list_position(step, bump_peak)] as placed,
        train_loss[list_position(step, bump_peak)] > train_loss[list_position(step, bump_start)] as both_rise
    from runs
    where d = s and s = 2 and bump_peak is not null
),
near as (
    select
        *,
        [
            sqrt((placed[1] - mu[1]) ** 2 + placed[2] ** 2), sqrt(placed[1] ** 2 + (placed[2] - mu[2]) ** 2),
            case when zero_cluster then sqrt(placed[1] ** 2 + placed[2] ** 2) else 'inf'::double end
        ] as distance
    from tops
)
select
    convention, format('L = {}, d = {}, width {}, mu = {}', layers, d, width, mu) as setting,
    count(*) as n,
    count(*) filter (where list_position(distance, list_min(distance)) = list_position(a, list_max(a))) as k,
    format(
        'at the top: r_1 = {:.2f}, r_2 = {:.2f} (medians); training loss higher than before the rise in {} seeds',
        median(placed[1] / mu[1]), median(placed[2] / mu[2]), count(*) filter (where both_rise)
    ) as measured
from near
group by convention, layers, d, width, mu
order by convention, layers, d, width, mu
