-- Of every seed at a contrast: do the images generated of the held-out class end as that class, with both concepts
-- right to 0.9 in the last evaluation? A run of which nothing can be said counts against, and so does one in whose last
-- evaluation no circle is found in half of the images. Rows by judge and contrast. Repaired after results were seen:
-- the last evaluation with circles was taken for the last one.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
judged as (
    select *, true as tells, learned as holds, mse_final as value, 'last concept-space MSE' as what from runs
)
-- include: claims/shared/diffusion-rows
