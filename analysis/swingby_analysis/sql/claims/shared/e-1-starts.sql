-- The entries of W at the start, where U is normal.
starts as (
    select
        convention, seed, init, width, init_gain, init_gain / sqrt(width) as tau,
        jacobian[1][1] as w_11, jacobian[1][2] as w_12, jacobian[1][4] as w_22
    from runs
    where model = 'symmetric' and s = 2 and init = 'normal'
)
