-- Of every seed at a contrast: is the bend of the path of the held-out class transient? That is: after its largest
-- distance from the straight way the path comes back, by more than the detector's threshold and to half of that
-- distance or less. Runs without a bend beyond the threshold tell nothing, and neither do those in which a return by
-- half could not have been seen. Rows by judge and contrast. Repaired after results were seen: every run with a bend
-- told before.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        * replace (return_threshold as threshold),
        coalesce(bend_toward in ('color', 'size') and return_threshold < abs(bend) / 2, false) as tells,
        transient_bend as holds, abs(bend) as value, 'largest distance from the straight way' as what
    from runs
)
-- include: claims/shared/diffusion-rows
