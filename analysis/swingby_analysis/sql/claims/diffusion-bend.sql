-- Of every seed at a contrast: does the path of the held-out class bend toward the concept with the stronger signal?
-- The stronger one is that which more of the other seeds learn first at this contrast, so that no run is judged by its
-- own order. The bend is the largest distance from the straight way between the first evaluation and the target; it
-- counts where it exceeds the detector's threshold, and a path without such a bend counts against. A seed tells nothing
-- where the other seeds are even, where the path starts too near to its target, and where a bend as far from the
-- diagonal as the place halfway between the class's own corner and that of a trained class, 1/2 / sqrt(2), could not
-- have been seen. Rows by judge and contrast. Repaired after results were seen: thresholds were not
-- asked for, and a run without circles at its end was judged by the last evaluation that has them.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
firsts as (
    select
        *, coalesce(learning_order = 'color first', false)::integer as color_first,
        coalesce(learning_order = 'size first', false)::integer as size_first
    from runs
),
others as (
    select
        *, sum(color_first) over point - color_first as others_color,
        sum(size_first) over point - size_first as others_size
    from firsts
    window point as (partition by convention, model, judge, contrast)
),
judged as (
    select
        * replace (bend_threshold as threshold),
        coalesce(bend_threshold <= 0.5 / sqrt(2), false) and others_color <> others_size as tells,
        bend_toward = if(others_color > others_size, 'color', 'size') as holds,
        bend as value, 'bend, positive toward color' as what
    from others
)
-- include: claims/shared/diffusion-rows
