-- Of every seed: does the OOD loss fall, rise and fall again, by more than the detector's threshold (two descents or
-- more)?
with
-- include: claims/shared/runs,
judged as (
    select *, non_monotone as holds from runs
)
-- include: claims/shared/deep-rows
