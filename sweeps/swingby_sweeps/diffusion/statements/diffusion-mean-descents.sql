-- in the mean: Diffusion: the concept-space MSE falls, rises and falls in the mean over seeds [Fig 6b, 5]
-- asks: Does the mean over seeds of the concept-space MSE of blue-small fall, rise and fall again? Trough and peak are
--     located on the mean of all seeds but one (the fall, rise and fall whose smallest leg is largest), the rise
--     between them is measured on the seed left out, and so in turn: it is the effect of that seed. Without a bump the
--     interval lies above 0 in 5 to 20 % of samples. It is asked twice: of all
--     evaluations, as in the paper, and of those with a circle in half of the images or more. Only evaluations that
--     every seed has are compared: with fewer than two seeds, three such evaluations, or half of the recorded ones,
--     nothing can be told. At five seeds this has little power. Rows by judge, contrast, number of evaluations, and
--     which of them are taken.
-- sweeps: figure-6-small, figure-6-learned, figure-6-swing, figure-6
-- reverse: no
-- after: Its kind was named when results had been seen: a rise in the mean of seeds. It was said not to hold where the
--     interval of the rises lay below the least rise that counts in a run, and now is not shown there. Where the mean
--     falls from the place of the trough to that of the peak the reverse was said to hold, which is only that a falling
--     curve falls: there the claim does not hold. Later it was said not to hold where the seeds had a quarter of their
--     evaluations in common, all of them late; and all evaluations were asked of too, and twenty fresh seeds, before any
--     of these was looked at.
-- setting: {judge} judge, contrast {contrast:g}, {kept} of {evaluated} evaluations; {model}
-- measured: {coalesce(format('rise on the seed left out {:.3g}, {} seeds, looked for from step {:.0f} to {:.0f}',
--     avg(effect), count(effect), median(start), median(peak)), 'too few seeds or evaluations in common')}
with records as (
    select
        preset, model, judge, contrast, len(step) as evaluated, seed, judged, unnest(step) as step,
        unnest(found)[4] as share, unnest(color)[4] as blue, unnest(size)[4] as small
    from by_judge
),
kinds as (from (values ('all'), ('those with circles')) as kinds (kept)),
places as (  -- as the detector takes them: a circle in half of the images and in two of them, and finite coordinates
    select
        *, ((1 - blue) ** 2 + (1 - small) ** 2) / 2 as error,
        count(*) over (partition by preset, model, judge, contrast, evaluated, kept, seed) as places
    from records cross join kinds
    where
        isfinite(blue) and isfinite(small)
        and (kept = 'all' or share >= 0.5 and judged * share > 1.5)
),
seeds as (
    select preset, model, judge, contrast, evaluated, kept, count(distinct seed) filter (where places > 1) as seeds
    from places
    group by all
),
common as (  -- evaluations that every seed has, with the mean over the others
    select
        places.*, seeds,
        (sum(error) over at_step - error) / (seeds - 1) as others
    from places join seeds using (preset, model, judge, contrast, evaluated, kept)
    where places > 1 and seeds > 1
    window at_step as (partition by preset, model, judge, contrast, evaluated, kept, step)
    qualify count(*) over at_step = seeds
),
legs as (
    select
        *, max(others) over (run order by step rows unbounded preceding) - others as before,
        others - min(others) over (run order by step rows between current row and unbounded following) as after,
        count(*) over run as shared
    from common
    window run as (partition by preset, model, judge, contrast, evaluated, kept, seed)
),
located as (
    select
        preset, model, judge, contrast, evaluated, kept, seed, trough.step as start, peak.step as peak,
        peak.error - trough.error as rise
    from
        legs trough join legs peak using (preset, model, judge, contrast, evaluated, kept, seed)
    where trough.step < peak.step and trough.shared >= greatest(3, evaluated / 2)
    qualify row_number() over (
        partition by preset, model, judge, contrast, evaluated, kept, seed
        order by least(peak.others - trough.others, trough.before, peak.after) desc, trough.step, peak.step
    ) = 1
)
select *, rise as effect
from (select distinct preset, model, judge, contrast, len(step) as evaluated, seed from by_judge) cross join kinds
left join located using (preset, model, judge, contrast, evaluated, kept, seed)
