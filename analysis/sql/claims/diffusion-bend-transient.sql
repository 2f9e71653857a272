-- Of every seed at a contrast: is the bend of the path of the held-out class transient? That is: after its largest
-- distance from the straight way the path comes back, by more than the detector's threshold and to half of that
-- distance or less. Runs without a bend beyond the threshold tell nothing. Rows by judge and contrast.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        *, coalesce(bend_toward in ('color', 'size'), false) as tells, transient_bend as holds,
        abs(bend) as value, 'largest distance from the straight way' as what
    from runs
)
-- include: claims/shared/diffusion-rows
