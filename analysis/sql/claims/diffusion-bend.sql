-- Of every seed at a contrast: does the path of the held-out class bend toward the concept with the stronger signal?
-- The stronger one is that which more of the other seeds learn first at this contrast, so that no run is judged by its
-- own order. The bend is the largest distance from the straight way between the first evaluation and the target; it
-- counts where it exceeds the detector's threshold, and a path without such a bend counts against. Where the other
-- seeds are even, or the path starts too near to its target, a seed tells nothing. Rows by judge and contrast.
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
        *, bend_toward is not null and others_color <> others_size as tells,
        bend_toward = if(others_color > others_size, 'color', 'size') as holds,
        bend as value, 'bend, positive toward color' as what
    from others
)
-- include: claims/shared/diffusion-rows
