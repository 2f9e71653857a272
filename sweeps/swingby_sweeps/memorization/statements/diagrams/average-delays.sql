-- sweeps: diagram-memorization-average
-- asks: Of every seed: by what factor (its logarithm is the effect) is tau_mem of the running mean over 1,000 steps that of
--     the net, in the geometric mean over the sizes of which both memorize?
-- found: A running mean over 1,000 steps memorizes later than the net: [numbers]
-- contrary: A running mean over 1,000 steps memorizes sooner than the net: [numbers]
-- cannot be told: Whether a running mean over 1,000 steps memorizes later than the net cannot be told: [numbers]
-- numbers: tau_mem is {factor:.2f} times that of the net.
with pairs as (
    select
        seed, points, any_value(tau_mem) filter (where average = 0) as net,
        any_value(tau_mem) filter (where average = 0.999) as mean
    from runs
    group by seed, points
)
select seed, exp(avg(ln(mean / net))) as factor, avg(ln(mean / net)) as effect from pairs group by seed
