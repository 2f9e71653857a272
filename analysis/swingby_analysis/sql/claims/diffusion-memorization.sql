-- Of every seed at a contrast in which the concept-space MSE falls, rises and falls: is the rise transient
-- memorization? That is: over a rise the held-out class comes nearer to the corner of a trained class, by more than the
-- detector's threshold, while the diffusion term of the training loss does not rise beyond its own. Runs without such a
-- rise, and those whose loss is not known, tell nothing. Rows by judge and contrast. Repaired after results were seen:
-- the detector looked at the whole training loss before, took one that is not known for one that does not rise, and any
-- step nearer, however small, for an approach.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        *, coalesce(non_monotone and transient_memorization is not null, false) as tells,
        transient_memorization as holds, case when non_monotone then mse_bump end as value, 'rise' as what
    from runs
)
-- include: claims/shared/diffusion-rows
