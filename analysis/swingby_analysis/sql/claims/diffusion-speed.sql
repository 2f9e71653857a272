-- Of every seed: is color learned the earlier, the larger the contrast of the colors? Spearman's rank correlation
-- between contrast and the step at which color's final stretch right to 0.9 starts (infinite if it never does) has to
-- be -0.8 or less; of six contrasts in an order of chance it is that in 3 %. Seeds with fewer than four contrasts, and
-- those whose times are all the same, tell nothing. Rows by judge.
-- Repaired after results were seen: a run without circles at its end was judged by the last evaluation that has them.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
timed as (
    select convention, model, judge, seed, contrast, coalesce(t_color, 'inf'::double) as t from runs
),
ranked as (  -- equal times share the mean of their ranks
    select
        *, rank() over (partition by convention, model, judge, seed order by contrast) as of_contrast,
        rank() over (partition by convention, model, judge, seed order by t)
        + (count(*) over (partition by convention, model, judge, seed, t) - 1) / 2 as of_time
    from timed
),
seeds as (
    select
        convention, model, judge, seed,
        case when count(*) >= 4 and count(distinct t) > 1 then corr(of_contrast, of_time) end as rho
    from ranked
    group by all
),
times as (
    select convention, model, judge, contrast, median(t) as t from timed group by all
),
said as (
    select
        convention, model, judge,
        string_agg(if(isinf(t), 'never', format('{:.0f}', t)), ', ' order by contrast) as list
    from times
    group by all
)
select
    convention, format('{} judge; {}', judge, model) as setting,
    count(rho) as n,
    count(*) filter (where rho <= -0.8) as k,
    format(
        'rank correlation {}; median step by rising contrast: {}',
        coalesce(format('{:.2f} (median), {:.2f} to {:.2f}', median(rho), min(rho), max(rho)), 'in no seed'),
        any_value(list)
    ) as measured
from seeds join said using (convention, model, judge)
group by convention, model, judge
order by convention, model, judge
