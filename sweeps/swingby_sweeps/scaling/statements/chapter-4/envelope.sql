-- claim: The curves of single widths over compute touch the power law, and none falls below it
-- source: Fig 4.3
-- order: 2.4
-- sweeps: figure-4-3
-- rule: always
-- least: 3
-- setting: infinitely many skills, {model}
-- measured: nearest point of each curve over the law, less 1: {100 * min(nearest):.2f} to {100 * max(nearest):.2f} %
--
-- Of every curve of one width, from 32 on: is its least distance above the law with theory's exponent and prefactor
-- between -1 and 3 %? The law is that of the curve of the best width. A value of alpha stands for a seed.
with laws as (
    select preset, alpha, any_value(predicted_prefactor) as level, any_value(theory_exponent) as power
    from runs
    where width is null and skills is null
    group by preset, alpha
),
curves as (
    select
        preset, model, alpha, round(1000 * alpha)::bigint as seed, width,
        list_min(list_transform(list_zip(x, loss), lambda v: v[2] / (level * v[1] ** power))) - 1 as nearest
    from runs join laws using (preset, alpha)
    where width >= 32 and skills is null
)
select *, nearest between -0.01 and 0.03 as holds from curves
