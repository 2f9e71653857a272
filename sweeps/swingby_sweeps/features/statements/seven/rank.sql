-- slug intensity-goes-with-quality: figure-7-7
-- in the mean: Features of higher intensity have more quality and utilization [7.4.1, Fig 7.7 (there of VGG16 on
--     CIFAR10 and ResNet18 on CIFAR100)]
-- asks: Of every seed: what is Spearman's rank correlation of intensity with quality and with utilization, over the
--     first 2C features at the end?
-- setting: {measure}, {data}, weight decay {weight_decay}
-- measured: Spearman's correlation {avg(effect):.2f} (mean over the seeds)
with correlations as (
    select
        preset, seed, data, weight_decay, corr(intensity_rank, quality_rank) as with_quality,
        corr(intensity_rank, utilization_rank) as with_utilization
    from spectra
    group by preset, seed, data, weight_decay
)
select
    preset, seed, data, weight_decay, unnest(['quality', 'utilization']) as measure,
    unnest([with_quality, with_utilization]) as effect
from correlations
