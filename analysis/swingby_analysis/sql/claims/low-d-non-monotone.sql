-- Of every seed: does the OOD loss of the deep net in low dimension (d = s) fall, rise and fall again, by more than the
-- detector's threshold (two descents or more)?
with
-- include: claims/shared/runs,
judged as (
    select *, non_monotone as holds from runs where d = s
)
-- include: claims/shared/deep-rows
