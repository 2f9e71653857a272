-- Of every seed at a contrast: does the concept-space MSE of the held-out class fall, rise and fall again, by more than
-- the detector's threshold each (two descents or more)? Runs of which the judge could place fewer than three
-- evaluations tell nothing. Rows by judge and contrast.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select *, non_monotone is not null as tells, non_monotone as holds, mse_bump as value, 'rise' as what from runs
)
-- include: claims/shared/diffusion-rows
