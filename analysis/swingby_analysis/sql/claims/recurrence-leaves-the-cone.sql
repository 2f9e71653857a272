-- Of every seed of the iteration of W (D.2): does W leave the cone of positive semidefinite matrices (outcome
-- artefact), or diverge, though it starts as U U^T?
with
-- include: claims/shared/runs,
judged as (
    select *, outcome in ('artefact', 'diverged') as holds
    from runs
    where model = 'w_recurrence'
)
-- include: claims/shared/fig-10-rows
