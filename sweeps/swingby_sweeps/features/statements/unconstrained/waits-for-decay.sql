-- sweeps: diagram-unconstrained-start
-- asks: Of every seed: the slope of log collapse_time over log l, for decays up to .003, from large starts and from
--     small ones, each the mean over its starts.
-- fresh fresh-unconstrained-start: From a large start collapse waits for decay, from a small one for growth
-- found: From starts of 3 and more the time of collapse goes with the decay to the power {large:.2f}, from starts of .1
--     and less to the power {small:.2f}.
-- not found: The time of collapse does not fall faster with the decay from starts of 3 and more, to the power
--     {large:.2f}, than from starts of .1 and less, to the power {small:.2f}.
-- cannot be told: No large start collapses at several decays.
select seed, avg(slope) filter (where start >= 3) as large, avg(slope) filter (where start <= 0.1) as small,
    small - large as effect
from (
    select seed, start, regr_slope(ln(collapse_time), ln(decay_w)) as slope
    from runs
    where collapse_time is not null and decay_w <= 0.003
    group by seed, start
)
group by seed
