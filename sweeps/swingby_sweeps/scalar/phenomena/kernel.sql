-- title: The kernel: lazy or rich
-- experiment: wide_scalar
-- regimes: lazy, crossover, rich
-- means: The kernel changed by less than a factor of 1.1, by more than 2, or by something between (regime; null on a
--     saddle, and where the run is unresolved or diverged).
case when regime in ('lazy', 'crossover', 'rich') then regime end
