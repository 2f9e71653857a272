-- in the mean: On hard data a net uses more features to express its output late in training than at epoch 20 [7.4, Fig
--     7.4 (b) (there of an MLP on CIFAR10)]
-- asks: Of every seed: by how much is the cumulative utilization of the first C features smaller at the end than at the
--     first record from epoch 20 on?
-- sweeps: figure-7-4
-- setting: Gaussian classes, separation 2
-- measured: cumulative utilization of the first C features {avg(early):.3f} at epoch 20, {avg(late):.3f} at the end
--     (means)
with placed as (
    select *, 1 + len(list_filter(step, lambda s: s < 20 * steps_per_epoch)) as place from runs where separation < 4
)
select
    preset, seed, utilization_at_classes[place] as early, utilization_at_classes[-1] as late, early - late as effect
from placed
