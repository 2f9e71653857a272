-- always: Without decay a diagonal net generalizes exactly from starts with alpha^2 <= C*, C* being its task's own [our
--     extension of (3.3) and 6.4]
-- asks: Of every seed, at each of 21 alphas: does |theta - w|^2 reach .05 exactly where alpha^2 is at most C*, computed
--     from the run's own points before it is trained?
-- sweeps: claim-scalar-no-decay
-- setting: n = {points}, d = {dimension}, k = {nonzeros}; decay 0
-- measured: sqrt(C*) from {min(critical_start):.3f} to {max(critical_start):.3f}; {count(*) filter (where generalizes)}
--     of {count(*)} runs generalize
select *, (final_test_error <= 0.05) = (alpha <= critical_start) as holds from runs where critical is not null
