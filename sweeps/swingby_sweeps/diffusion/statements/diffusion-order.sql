-- in most seeds: Diffusion: the color's contrast decides the order of learning: at the lowest size comes first, at the
--     highest color [Fig 6a, 5]
-- asks: Of every seed: is size learned first at the lowest contrast of the colors, and color first at the highest?
--     First is the concept of the held-out class whose final stretch right to 0.9 starts earlier. A tie, or neither,
--     counts against, and so does a run of which nothing can be said. A seed that lacks either contrast tells nothing.
--     Rows by judge. Repaired after results were seen: a run without circles at its end was judged by the last
--     evaluation that has them.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: The query was repaired, in what it takes from the detector: where no circle is found in half of the images at
--     the end, the last evaluation that has them was taken for the end of the run; now no concept is right there. Later
--     its kind was named when results had been seen: the paper says what decides the order, without a proof; the seeds
--     were too few to tell that of most.
-- setting: {judge} judge; {model}
-- measured: seeds with color / size first, by contrast: {any_value(list)}
with ends as (
    select
        *, contrast = min(contrast) over setting as lowest, contrast = max(contrast) over setting as highest
    from by_judge
    window setting as (partition by preset, model)
),
counts as (
    select
        preset, model, judge, contrast,
        count(*) filter (where learning_order = 'color first') as color_first,
        count(*) filter (where learning_order = 'size first') as size_first
    from by_judge
    group by all
),
listed as (
    select
        preset, model, judge,
        string_agg(format('{:g}: {} / {}', contrast, color_first, size_first), ', ' order by contrast) as list
    from counts
    group by all
)
select
    preset, model, judge, seed, any_value(list) as list,
    case when count(distinct contrast) = 2 then
        bool_and(coalesce(learning_order, '') = if(lowest, 'size first', 'color first'))
    end as holds
from ends join listed using (preset, model, judge)
where lowest or highest
group by preset, model, judge, seed
