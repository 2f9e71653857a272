-- sweeps: diagram-rho-width
-- asks: Of every seed: in what share of its runs is the second mode half learned before the first, by the scale of the
--     start and by the ratio of the correlations?
-- fresh fresh-rho-width: Correlations that are close are learned out of order only from large starts
-- found: Of correlations at most 10 % apart the smaller one is learned first more often from starts of sd 0.1 than from
--     starts of sd 0.0001: {large:.1%} of the runs against {small:.1%}. Of correlations 30 % apart or more it is
--     {apart:.1%}, from all starts together.
-- not found: Of correlations at most 10 % apart the smaller one is learned first no more often from starts of sd 0.1
--     than from starts of sd 0.0001: {large:.1%} of the runs against {small:.1%}.
-- cannot be told: Whether of correlations at most 10 % apart the smaller one is learned first more often from starts of
--     sd 0.1 than from starts of sd 0.0001 cannot be told: {large:.1%} of the runs against {small:.1%}.
select
    seed, avg(swapped) filter (where ratio >= 0.9 and sigma = 0.1) as large,
    avg(swapped) filter (where ratio >= 0.9 and sigma = 0.0001) as small,
    avg(swapped) filter (where ratio <= 0.7) as apart, large - small as effect
from (select *, 1 - order_follows_rho::integer as swapped, rho[2] / rho[1] as ratio from runs)
group by seed
