-- sweeps: diagram-labels-decay
-- asks: Of every seed: what is the smallest kappa at the end over all L2 with which the labels are learned (training
--     accuracy 0.9 or more), where no label is random and where all are?
-- fresh fresh-labels-decay: Whether random labels collapse features further than true ones
-- found: Features collapse further under random labels than under true ones: [numbers]
-- contrary: Features collapse less under random labels than under true ones: [numbers]
-- cannot be told: Whether features collapse further under random labels than under true ones cannot be told: [numbers]
-- numbers: kappa {random:.3f} against {true_labels:.3f}, at the L2 that suits each best.
select
    seed, min(final_kappa) filter (where random_labels = 0) as true_labels,
    min(final_kappa) filter (where random_labels = 1) as random, true_labels - random as effect
from runs
where final_train_accuracy >= 0.9
group by seed
