-- sweeps: diagram-memorization-rate
-- asks: Of every seed: what are the slopes of ln tau_mem and of ln tau_gen over the log of the learning rate, in the mean
--     over the sizes at which it has that time at every rate? Steps along one path have -1.
-- found: A larger learning rate shortens both times: [numbers]
-- not found: A larger learning rate does not shorten both times: [numbers]
-- cannot be told: Whether a larger learning rate shortens both times cannot be told: [numbers]
-- numbers: tau_mem goes as the rate to the power {mem:.2f}, tau_gen to the power {gen:.2f}, where steps along one path
--     have -1.
with slopes as (
    select
        seed, points, regr_slope(ln(tau_mem), ln(lr)) as of_mem, count(tau_mem) = count(*) as memorizes,
        regr_slope(ln(tau_gen), ln(lr)) as of_gen, count(tau_gen) = count(*) as learns
    from runs
    group by seed, points
)
select
    seed, avg(of_mem) filter (where memorizes) as mem, avg(of_gen) filter (where learns) as gen, -mem as effect,
    -gen as effect_2
from slopes
group by seed
