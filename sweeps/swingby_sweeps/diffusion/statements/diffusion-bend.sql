-- in most seeds: Diffusion: the path of the held-out class bends toward the concept with the stronger signal [Fig 6a,
--     5]
-- asks: Of every seed at a contrast: does the path of the held-out class bend toward the concept with the stronger
--     signal? The stronger one is that which more of the other seeds learn first at this contrast, so that no run is
--     judged by its own order. The bend is the largest distance from the straight way between the first evaluation and
--     the target; it counts where it exceeds the detector's threshold, and a path without such a bend counts against. A
--     seed tells nothing where the other seeds are even, where the path starts too near to its target, and where a bend
--     as far from the diagonal as the place halfway between the class's own corner and that of a trained class, 1/2 /
--     sqrt(2), could not have been seen. Rows by judge and contrast. Repaired after results were seen: thresholds were
--     not asked for, and a run without circles at its end was judged by the last evaluation that has them.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: The query was repaired: runs whose noise and few evaluations would have hidden it counted against it. A run
--     tells now if it could have shown a move to halfway between the class's own corner and that of a trained class,
--     which was fixed before the thresholds of the runs were looked at. How a bend's threshold is taken was changed
--     once more when verdicts by the first way had been seen: they were those of paths at rest, whose few evaluations
--     on the way could have shown nothing. The query was repaired, in what it takes from the detector: where no circle
--     is found in half of the images at the end, the last evaluation that has them was taken for the end of the run;
--     now no concept is right there.
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('bend, positive toward color: {:.3g} (median), {:.3g} to {:.3g}', median(value),
--     min(value), max(value)), 'nothing is told of any run')}{coalesce(format('; threshold: {:.3g} (median), {:.3g} to
--     {:.3g}', median(threshold), min(threshold), max(threshold)), '')}
with firsts as (
    select
        *, coalesce(learning_order = 'color first', false)::integer as color_first,
        coalesce(learning_order = 'size first', false)::integer as size_first
    from by_judge
),
others as (
    select
        *, sum(color_first) over point - color_first as others_color,
        sum(size_first) over point - size_first as others_size
    from firsts
    window point as (partition by preset, model, judge, contrast)
)
select
    *, bend_threshold as threshold, bend as value,
    case when bend_threshold <= 0.5 / sqrt(2) and others_color <> others_size then
        coalesce(bend_toward = if(others_color > others_size, 'color', 'size'), false)
    end as holds
from others
