-- The output of one layer under SGD at every record, beside growth, noise and its bound by Theorem 4.1.
entries as (
    select
        convention, seed, bias, d, reduction, mu, a, l_ref, jacobian[1] as w0,
        unnest(step) * time_per_step as t,
        unnest(output) as f
    from runs
    where model = 'one_layer' and drive = 'sgd'
),
terms as (  -- eq 4.2 for the first two concepts; w0 is row-major, row = output
    select
        *,
        [(1 - exp(-a[1] * t)) * mu[1], (1 - exp(-a[2] * t)) * mu[2]] as growth,
        [
            exp(-a[1] * t) * w0[1] * mu[1] + exp(-a[2] * t) * w0[2] * mu[2],
            exp(-a[1] * t) * w0[3] * mu[1] + exp(-a[2] * t) * w0[4] * mu[2]
        ] as noise,
        [abs(w0[1]) * mu[1] + abs(w0[2]) * mu[2], abs(w0[3]) * mu[1] + abs(w0[4]) * mu[2]] as bound
    from entries
)
