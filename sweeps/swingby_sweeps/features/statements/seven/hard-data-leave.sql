-- in most seeds: On hard data a net enters the minimum feature regime early, and leaves it again [Figs 7.4 to 7.6, 7.4
--     (there of MLPs on CIFAR10 and MNIST)]
-- asks: Of every seed on overlapping classes: did kappa of the test sample fall below 0.1, rise from its minimum again
--     (`leaves`), and end above 0.1?
-- sweeps: figure-7-4
-- setting: Gaussian classes, separation 2
-- measured: smallest kappa {median(least_kappa):.3f}, at the end {median(final_kappa_cka):.3f}; test accuracy
--     {median(final_test_accuracy):.3f} (medians)
select *, not minimum_features and coalesce(leaves, false) as holds from runs where separation < 4
