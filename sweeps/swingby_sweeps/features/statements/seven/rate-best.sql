-- slug best-rate-is-tightest: figure-7-2a
-- in most seeds: The learning rate with the tightest features is that of the best performance [Fig 7.2 (a) (there of
--     ResNet18 on CIFAR100)]
-- asks: Of every seed: is the test error smallest at the learning rate at which kappa of the test sample is smallest?
-- setting: equal epochs
-- measured: tightest at {median(tightest):.3g}, best at {median(best):.3g} (medians)
-- after: Asked of 16 seeds in place of 6, of which the interval was too wide to tell. Later, where two rates are
--     equally good, the tightest may be either; before, the first one stored was taken. By that rule 6 of 16 seeds had
--     been for it on another processor, whose arithmetic leads to other runs; here 3 are by either rule.
with compared as (
    select *, final_test_accuracy = max(final_test_accuracy) over (partition by preset, seed) as is_best
    from runs
    where regime <> 'diverged'
)
select
    preset, seed, arg_min(lr, final_kappa_cka) as tightest, min(lr) filter (where is_best) as best,
    arg_min(is_best, final_kappa_cka) as holds
from compared
group by preset, seed
