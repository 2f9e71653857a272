-- in most seeds: Where the loss rises again, the output is nearer to the cluster with the strongest signal than to any
--     other [Fig 2c, 3.3]
-- asks: Of every seed with a rise between two descents, d = s: at the top of the largest rise, is the nearest of the
--     centres, however far, mu_p e_p (and of the origin, where a cluster lies there) that of the concept with the
--     largest a_p? Seeds without a rise tell nothing. Also measured: how often the training loss is higher at the top
--     than where the rise began.
-- sweeps: figure-2c, figure-3
-- why: Under the text's conventions the training loss rises too in most of the rises of two layers: overshoots of a
--     step too long, and no swing-by.
-- after: Reworded: it said that the output is at the cluster, and the predicate asks which is nearest. The predicate is
--     the same. Later its kind was named when results had been seen: the paper describes what the model does, without
--     an exception and without a proof.
-- setting: L = {layers}, d = {d}, width {width}, mu = {mu}
-- measured: at the top: r_1 = {median(placed[1] / mu[1]):.2f}, r_2 = {median(placed[2] / mu[2]):.2f} (medians);
--     training loss higher than before the rise in {count(*) filter (where both_rise)} seeds
with tops as (
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
select *, list_position(distance, list_min(distance)) = list_position(a, list_max(a)) as holds from near
