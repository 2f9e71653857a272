-- sweeps: diagram-memorization-condition
-- asks: Of every seed: by what factor (its logarithm is the effect) is tau_mem with random conditions that without any, in
--     the geometric mean over the sizes of which both memorize?
-- found: Random conditions shorten the time to memorization: [numbers]
-- contrary: Random conditions lengthen the time to memorization: [numbers]
-- cannot be told: Whether random conditions shorten the time to memorization cannot be told: [numbers]
-- numbers: with ten random labels it is {random:.2f} times that without conditions, with the component as the condition
--     {component:.2f} times.
with pairs as (
    select
        seed, points, any_value(tau_mem) filter (where condition = 'none') as without,
        any_value(tau_mem) filter (where condition = 'random') as random,
        any_value(tau_mem) filter (where condition = 'component') as component
    from runs
    group by seed, points
)
select
    seed, exp(avg(ln(random / without))) as random, exp(avg(ln(component / without))) as component,
    -avg(ln(random / without)) as effect
from pairs
group by seed
