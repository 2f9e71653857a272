-- Runs of one layer without bias beside the closed form from the same weights: their largest distance over ||x^||.
pairs as (
    select
        descent.convention, descent.seed, descent.mu, descent.time_per_step, descent.a, descent.drive, theory.moments,
        list_max(list_transform(
            list_zip(descent.output, theory.output),
            lambda pair: sqrt((pair[1][1] - pair[2][1]) ** 2 + (pair[1][2] - pair[2][2]) ** 2)
        )) / sqrt(2 * descent.l_ref) as off
    from runs descent join runs theory using (convention, seed, mu, sigma, zero_cluster, reduction, lr)
    where not descent.bias and descent.drive <> 'closed_form' and theory.drive = 'closed_form'
        and descent.step = theory.step
)
