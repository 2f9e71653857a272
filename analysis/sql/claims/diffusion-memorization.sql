-- Of every seed at a contrast in which the concept-space MSE falls, rises and falls: is the rise transient
-- memorization? That is: over a rise the held-out class comes nearer to the corner of a trained class, while the
-- diffusion term of the training loss does not rise beyond its own threshold. Runs without such a rise tell nothing.
-- Rows by judge and contrast. Repaired after results were seen: the detector looked at the whole training loss before.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        *, coalesce(non_monotone, false) as tells, transient_memorization as holds,
        case when non_monotone then mse_bump end as value, 'rise' as what
    from runs
)
-- include: claims/shared/diffusion-rows
