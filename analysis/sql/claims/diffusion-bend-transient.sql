-- Of every seed at a contrast: is the bend of the path of the held-out class transient? That is: after its largest
-- distance from the straight way the path comes back, by more than the detector's threshold and to half of that
-- distance or less. A seed tells if its bend is beyond the threshold, and the threshold no more than half of it (a
-- return by half could have been seen) and than the distance from the diagonal halfway between the class's own corner
-- and that of a trained class, 1/2 / sqrt(2). Rows by judge and contrast. Repaired after results were seen: every run
-- with a bend told before.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        * replace (bend_threshold as threshold),
        coalesce(
            bend_toward in ('color', 'size') and bend_threshold <= least(0.5 / sqrt(2), abs(bend) / 2), false
        ) as tells,
        transient_bend as holds, abs(bend) as value, 'largest distance from the straight way' as what
    from runs
)
-- include: claims/shared/diffusion-rows
