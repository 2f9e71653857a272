-- preset small: the small setting's conventions
-- lead of claims: Claims on diffusion are judged also under the conventions of a small setting for a CPU.
-- note on claims: Claims on diffusion are of sweeps that take hours. They are not trained for this page: each claim is
--                 judged on those of its sweeps that were run, or whose recorded results are shipped, and says which.
--                 Rows by the judge that measures the generated images and by the trained classifier are settings of
--                 their own. They have few seeds and short curves: where a claim is about a bend or a rise, a seed
--                 tells if its thresholds could have shown a move to halfway between the corners of two classes. This
--                 has been asked since results of these sweeps were seen.
-- hours: yes
-- order:
--     diffusion-trained-learned, diffusion-judges-agree, diffusion-order, diffusion-speed, diffusion-size-contrast,
--     diffusion-color-contrast, diffusion-bend, diffusion-bend-transient, diffusion-converges, diffusion-descents,
--     diffusion-memorization, diffusion-mean-descents, diffusion-slowdown, diffusion-exponential

-- Every run with its recipe in words: what tells the rows of one sweep from those of another. Cells that are older than
-- `circle_edge` have none, and circles with a ramp.
create view recipes as
select
    *, format(
        '{} x {} pixels, {:,} steps, {} rate, {} edge',
        pixels, pixels, training_steps, decay, coalesce(circle_edge, 'ramp')
    ) as model
from runs;

-- Every run once as either judge saw it: the one that measures the images, and the trained classifier.
create view by_judge as
select
    preset, seed, contrast, size_contrast, judged, step, found,
    model, 'measured' as judge, color, size,
    learning_order, t_color, learned, mse_final, non_monotone, transient_memorization, mse_bump, bend, bend_toward,
    transient_bend, speed_rate, speed_rate_r2, speed_power_r2, slowdown, mse_threshold, bend_threshold, return_threshold
from recipes
union all by name
select
    preset, seed, contrast, size_contrast, judged, step, found,
    model, 'trained' as judge, trained_color as color, trained_size as size,
    learning_order_by_trained as learning_order, t_color_by_trained as t_color, learned_by_trained as learned,
    mse_final_by_trained as mse_final, non_monotone_by_trained as non_monotone,
    transient_memorization_by_trained as transient_memorization, mse_bump_by_trained as mse_bump,
    bend_by_trained as bend, bend_toward_by_trained as bend_toward, transient_bend_by_trained as transient_bend,
    speed_rate_by_trained as speed_rate, speed_rate_r2_by_trained as speed_rate_r2,
    speed_power_r2_by_trained as speed_power_r2, slowdown_by_trained as slowdown,
    mse_threshold_by_trained as mse_threshold, bend_threshold_by_trained as bend_threshold,
    return_threshold_by_trained as return_threshold
from recipes;

-- Pairs of runs of a seed in which one contrast is the same and the other one grows: how far ahead the concept of that
-- contrast is in either (1 it comes first, 0 a tie, -1 the other), where that differs.
create view larger_contrast as
with leads as (
    select
        preset, model, judge, seed, 'color' as grows, size_contrast as fixed, contrast as grown,
        case learning_order when 'color first' then 1 when 'tie' then 0 when 'size first' then -1 end as lead
    from by_judge
    union all
    select
        preset, model, judge, seed, 'size', contrast, size_contrast,
        case learning_order when 'size first' then 1 when 'tie' then 0 when 'color first' then -1 end
    from by_judge
),
pairs as (
    select
        low.preset, low.model, low.judge, low.seed, grows, high.lead <> low.lead as differs,
        high.lead > low.lead as agrees
    from leads low join leads high using (preset, model, judge, seed, grows, fixed)
    where low.grown < high.grown
)
select
    preset, model, judge, seed, grows,
    count(*) filter (where differs) as differing, count(*) filter (where agrees) as agreeing
from pairs
group by all;
