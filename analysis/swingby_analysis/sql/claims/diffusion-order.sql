-- Of every seed: is size learned first at the lowest contrast of the colors, and color first at the highest? First is
-- the concept of the held-out class whose final stretch right to 0.9 starts earlier. A tie, or neither, counts against,
-- and so does a run of which nothing can be said. A seed that lacks either contrast tells nothing. Rows by judge.
-- Repaired after results were seen: a run without circles at its end was judged by the last evaluation that has them.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
ends as (
    select
        *, contrast = min(contrast) over setting as lowest, contrast = max(contrast) over setting as highest
    from runs
    window setting as (partition by convention, model)
),
seeds as (
    select
        convention, model, judge, seed,
        count(distinct contrast) = 2 as tells,
        bool_and(coalesce(learning_order, '') = if(lowest, 'size first', 'color first')) as holds
    from ends
    where lowest or highest
    group by all
),
counts as (
    select
        convention, model, judge, contrast,
        count(*) filter (where learning_order = 'color first') as color_first,
        count(*) filter (where learning_order = 'size first') as size_first
    from runs
    group by all
),
said as (
    select
        convention, model, judge,
        string_agg(format('{:g}: {} / {}', contrast, color_first, size_first), ', ' order by contrast) as list
    from counts
    group by all
)
select
    convention, format('{} judge; {}', judge, model) as setting,
    count(*) filter (where tells) as n,
    count(*) filter (where tells and holds) as k,
    'seeds with color / size first, by contrast: ' || any_value(list) as measured
from seeds join said using (convention, model, judge)
group by convention, model, judge
order by convention, model, judge
