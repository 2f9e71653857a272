-- always: The curves of single widths over compute touch the power law, and none falls below it [Fig 4.3]
-- asks: Of every curve of one width, from 32 on, that comes nearer to the law and goes away from it again: is it at its
--     nearest point between 1 % below and 3 % above the law with theory's exponent and prefactor? The law is that of
--     the best width.
-- sweeps: figure-4-3
-- least: 3
-- after: Curves that had not come to their point nearest to the law by the end of the sweep counted at first, as curves
--     that stay away from it.
-- setting: infinitely many skills, {model}
-- measured: nearest point of each curve over the law, less 1: {100 * min(nearest):.2f} to {100 * max(nearest):.2f} %
with laws as (
    select preset, alpha, any_value(predicted_prefactor) as level, any_value(theory_exponent) as power
    from runs
    where width is null and skills is null
    group by preset, alpha
),
distances as (
    select
        preset, model, round(1000 * alpha)::bigint as seed, width,
        list_transform(list_zip(x, loss), lambda v: v[2] / (level * v[1] ** power) - 1) as above
    from runs join laws using (preset, alpha)
    where width >= 32 and skills is null
),
curves as (select *, list_min(above) as nearest from distances)
select *, nearest between -0.01 and 0.03 as holds from curves where nearest < above[-1]
