-- Of every seed: is the OOD loss of the deep net in high dimension (d > s) monotone, as the detector sees it (no second
-- descent)?
with
-- include: claims/shared/runs,
judged as (
    select *, not non_monotone as holds from runs where d > s
)
-- include: claims/shared/deep-rows
