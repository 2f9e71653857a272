-- Of every seed at a contrast: does learning slow down exponentially rather than as a power of time? The speed |dC/dt|
-- in concept space, from its fastest on and as far as it stands out of its noise, is fitted by either law; a seed
-- counts if the exponential one has the larger R^2, by more than 0.1, of 0.5 or more. Runs of which R^2 is within 0.1,
-- and those with too few speeds to fit, tell nothing. Rows by judge and contrast.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        *, coalesce(slowdown <> 'either', false) as tells, slowdown = 'exponential' as holds,
        speed_rate_r2 - speed_power_r2 as value, 'R^2 of the exponential less that of the power law' as what
    from runs
)
-- include: claims/shared/diffusion-rows
