-- asks: Of every seed, over runs from weights of three times the usual size and more that generalise: what is the mean
--     of the log of the delay where the target is at most as large as the output of the start (`target_ratio` of the
--     detector `regimes`), and where it is ten times as large or more?
-- found: From large weights the delay shrinks as the target grows past the output of the start: {small:.1f} where the
--     target is at most as large, {large:.1f} where it is ten times as large or more (geometric means of the runs that
--     generalise).
-- contrary: From large weights the delay grows as the target grows past the output of the start: {small:.1f} where the
--     target is at most as large, {large:.1f} where it is ten times as large or more.
-- cannot be told: Whether, from large weights, the delay shrinks as the target grows past the output of the start
--     cannot be told: {small:.1f} where it is at most as large, {large:.1f} where it is ten times as large or more.
--
-- slug target-shortens: diagram-weight-target
-- fresh fresh-weight-target: A target ten times the start's output shortens the delay
--
-- slug output-shortens: diagram-weight-output
select
    seed, exp(avg(ln(delay)) filter (where target_ratio <= 1)) as small,
    exp(avg(ln(delay)) filter (where target_ratio >= 10)) as large, ln(small / large) as effect
from runs
where weight_scale >= 3
group by seed
