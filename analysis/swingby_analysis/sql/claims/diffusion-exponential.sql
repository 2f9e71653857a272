-- Of every seed at a contrast: does an exponential describe how learning slows down? The line through the logarithm of
-- the speed |dC/dt| in concept space against the step, from the fastest on and as far as it stands out of its noise,
-- has to fall, with R^2 >= 0.8. Runs with too few such speeds tell nothing. Rows by judge and contrast.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select
        *, speed_rate_r2 is not null as tells, speed_rate < 0 and speed_rate_r2 >= 0.8 as holds,
        speed_rate_r2 as value, 'R^2' as what
    from runs
)
-- include: claims/shared/diffusion-rows
