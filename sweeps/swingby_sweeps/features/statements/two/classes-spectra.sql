-- slug first-features-suffice: figure-2-4
-- in the mean: The first C features express all of the target that features express, and the whole learned function
--     [Fig 2.4 (a, b) (there of ResNet18 on CIFAR100)]
-- asks: Of every seed: which share of the quality of all features, and of the utilization, is missed by the first C of
--     them at the end?
-- within: 0.05
-- setting: {what}, {classes} classes
-- measured: {avg(effect):.3f} is missed (mean)
select
    preset, seed, classes, unnest(['target', 'learned function']) as what,
    unnest([1 - list_sum(qualities[-1][1:output_count]) / list_sum(qualities[-1]), 1 - final_utilization_at_classes]) as effect
from runs
