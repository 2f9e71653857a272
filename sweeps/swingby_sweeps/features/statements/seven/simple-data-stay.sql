-- in most seeds: On simple data the same net stays in the minimum feature regime [Figs 7.4 to 7.6, 7.4 (there of MLPs
--     on CIFAR10 and MNIST)]
-- asks: Of every seed on classes that are far apart: is kappa of the test sample below 0.1 at the end, without having
--     risen from its minimum (`leaves`)?
-- sweeps: figure-7-4
-- setting: Gaussian classes, separation 6
-- measured: smallest kappa {median(least_kappa):.3f}, at the end {median(final_kappa_cka):.3f}; test accuracy
--     {median(final_test_accuracy):.3f} (medians)
select *, minimum_features and not coalesce(leaves, false) as holds from runs where separation > 4
