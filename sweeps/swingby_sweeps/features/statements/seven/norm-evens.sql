-- in the mean: Batch norm makes the intensities of the first C features more alike [Fig 7.3 (there of VGG16 on CIFAR10
--     and CIFAR100)]
-- asks: Of every seed: how much larger is the evenness of the intensities inside the learned space with batch norm than
--     without?
-- sweeps: figure-7-3
-- setting: {loss}
-- measured: evenness {avg(evenness):.3f} instead of {avg(other_evenness):.3f} (means)
select *, evenness - other_evenness as effect from beside_plain
