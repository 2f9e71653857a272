-- slug features-rate-at-equal-time: diagram-features-lr-decay
-- asks: Of every seed, in the mean over weight decays up to 1e-5: what is kappa of the test sample at the end at
--     learning rates near 0.01, and near 0.1?
-- fresh fresh-features-equal-time: The learning rate makes features tighter at equal time
-- found: At equal time a larger learning rate makes features tighter: kappa {slow:.3f} at learning rate 0.01,
--     {fast:.3f} at 0.1, after the same learning rate x steps of 60 with hardly any weight decay.
-- contrary: At equal time a larger learning rate makes features looser: kappa {slow:.3f} at learning rate 0.01,
--     {fast:.3f} at 0.1, after the same learning rate x steps of 60 with hardly any weight decay.
-- cannot be told: Whether a larger learning rate makes features tighter at equal time cannot be told: kappa {slow:.3f}
--     at learning rate 0.01, {fast:.3f} at 0.1.
select
    seed, avg(final_kappa_cka) filter (where lr between 0.008 and 0.02) as slow,
    avg(final_kappa_cka) filter (where lr between 0.08 and 0.2) as fast, slow - fast as effect
from runs
where weight_decay < 2e-5
group by seed
