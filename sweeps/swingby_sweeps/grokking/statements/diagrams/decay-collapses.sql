-- sweeps: diagram-labels-decay
-- asks: Of every seed, in the mean over the shares of random labels: what is kappa at the end at the smallest L2, and
--     the smallest kappa at ten times that or more with which the labels are learned (training accuracy 0.9 or more)?
-- found: Weight decay is what collapses features: [numbers]
-- not found: Weight decay does not collapse features: [numbers]
-- cannot be told: Whether weight decay collapses features cannot be told: [numbers]
-- numbers: with the least of it kappa ends at {least:.2f}, with the L2 that suits best at {best:.2f} (means over the
--     shares of random labels).
with shares as (
    select
        seed, random_labels, max(final_kappa) filter (where l2 < 2e-5) as least,
        min(final_kappa) filter (where l2 > 1e-4 and final_train_accuracy >= 0.9) as best
    from runs
    group by seed, random_labels
)
select seed, avg(least) as least, avg(best) as best, avg(least - best) as effect from shares group by seed
