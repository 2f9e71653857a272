-- sweeps: diagram-scalar-grokking
-- asks: Of every seed: the ninth decile of the relative distance of the test time from the law, with each task's own C*
--     and with the geometric mean of all of them, and how much smaller the first one is.
-- fresh fresh-scalar-grokking: When a diagonal net generalizes is told by its points, before training
-- found: The points of a run tell beforehand when it generalizes: where alpha^2 > 4 C* and the decay is at most .01,
--     the time is within {worst:.1%} of ln(alpha^2/C*)/(2 decay) in nine of ten runs ({middle:.1%} in the median run),
--     over times that span a factor of {spread:.0f}; one C* for all tasks would err by {common:.1%}.
-- not found: The points of a run do not tell beforehand when it generalizes: where alpha^2 > 4 C* and the decay is at
--     most .01, nine of ten runs are within {worst:.1%} of ln(alpha^2/C*)/(2 decay); one C* for all tasks errs by
--     {common:.1%}.
-- cannot be told: Whether the points of a run tell beforehand when it generalizes cannot be told: where alpha^2 > 4 C*
--     and the decay is at most .01, nine of ten runs are within {worst:.1%} of ln(alpha^2/C*)/(2 decay).
with kept as (
    select *, exp(avg(ln(critical)) over ()) as typical
    from runs
    where alpha * alpha > 4 * critical and decay <= 0.01 and test_time is not null
)
select
    seed, quantile_cont(off_law, 0.9) as worst, median(off_law) as middle, max(test_time) / min(test_time) as spread,
    quantile_cont(abs(test_time / (ln(alpha * alpha / typical) / (2 * decay)) - 1), 0.9) as common,
    common - worst as effect
from kept
group by seed
