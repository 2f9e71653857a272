-- in the mean: Nets whose features are alike in kappa differ in what they generalise: random labels cost test accuracy
--     [Fig 3.5]
-- asks: Of every seed: by how much is the final test accuracy lower where all labels are random than where none are?
-- sweeps: figure-3-5
-- setting: all labels random against none
-- measured: test accuracy {avg(effect):.2f} lower (mean); kappa {median(apart):.3f} lower (median)
select
    preset, seed,
    max(final_test_accuracy) filter (where random_labels = 0)
        - max(final_test_accuracy) filter (where random_labels = 1) as effect,
    max(final_kappa) filter (where random_labels = 0) - max(final_kappa) filter (where random_labels = 1) as apart
from runs
group by preset, seed
