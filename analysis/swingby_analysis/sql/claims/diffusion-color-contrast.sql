-- Of every seed: at one contrast of the sizes, does a larger contrast of the colors make color come first more often?
-- Of all pairs of runs of the seed with the same sizes whose orders differ (color first, tie, size first), nine in ten
-- have to have color further ahead where the colors differ more. Runs that learn neither concept make no pair; seeds
-- without a pair that differs tell nothing. Rows by judge.
-- Repaired after results were seen: a run without circles at its end was judged by the last evaluation that has them.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
leads as (
    select
        convention, model, judge, seed, size_contrast as fixed, contrast as grown,
        case learning_order when 'color first' then 1 when 'tie' then 0 when 'size first' then -1 end as lead
    from runs
),
-- include: claims/shared/diffusion-grid
