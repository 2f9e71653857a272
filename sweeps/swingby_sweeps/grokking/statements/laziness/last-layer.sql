-- in the mean: Where the last layer trains alone, features are farther from the minimum feature regime than under the
--     smallest target [Fig 6.3]
-- asks: Of every seed: how much larger is kappa at the end where the last layer trains alone, at target scale 1, than
--     where all layers train at target scale 0.01?
-- sweeps: figure-6-3
-- why: kappa also asks whether the learned function lies in the span of the features. What the last layer learns alone
--     does; what all layers learn from features that hardly move does not, and is farther from it.
-- setting: the last layer alone against target scale 0.01
-- measured: kappa {avg(alone):.2f} where the last layer trains alone, {avg(lazy):.2f} at target scale 0.01,
--     {avg(rich):.2f} at target scale 1 (means)
select
    preset, seed, max(final_kappa) filter (where trained = 'last') as alone,
    max(final_kappa) filter (where trained = 'all' and target_scale < 0.05) as lazy,
    max(final_kappa) filter (where trained = 'all' and target_scale = 1) as rich, alone - lazy as effect
from runs
group by preset, seed
