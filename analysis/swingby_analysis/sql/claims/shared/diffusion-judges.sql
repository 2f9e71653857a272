-- These runs once as either judge saw them: the one that measures the images, and the trained classifier. A claim that
-- asks what the detector could have seen in a run puts its threshold in the place of the last column.
runs as (
    select
        convention, seed, contrast, size_contrast, judged, step, found,
        format('{} x {} pixels, {:,} steps', pixels, pixels, training_steps) as model,
        'measured' as judge, color, size,
        learning_order, t_color, learned, mse_final, non_monotone, transient_memorization, mse_bump, bend, bend_toward,
        transient_bend, speed_rate, speed_rate_r2, speed_power_r2, slowdown, mse_threshold, bend_threshold, return_threshold,
        null::double as threshold
    from finished
    union all by name
    select
        convention, seed, contrast, size_contrast, judged, step, found,
        format('{} x {} pixels, {:,} steps', pixels, pixels, training_steps) as model,
        'trained' as judge, trained_color as color, trained_size as size,
        learning_order_by_trained as learning_order, t_color_by_trained as t_color, learned_by_trained as learned,
        mse_final_by_trained as mse_final, non_monotone_by_trained as non_monotone,
        transient_memorization_by_trained as transient_memorization, mse_bump_by_trained as mse_bump,
        bend_by_trained as bend, bend_toward_by_trained as bend_toward, transient_bend_by_trained as transient_bend,
        speed_rate_by_trained as speed_rate, speed_rate_r2_by_trained as speed_rate_r2,
        speed_power_r2_by_trained as speed_power_r2, slowdown_by_trained as slowdown,
        mse_threshold_by_trained as mse_threshold, bend_threshold_by_trained as bend_threshold,
        return_threshold_by_trained as return_threshold,
        null::double as threshold
    from finished
)
