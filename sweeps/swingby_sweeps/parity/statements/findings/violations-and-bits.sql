-- sweeps: diagram-parity-width-bits
-- asks: Of every seed: in what share of its runs is a rarer skill ahead by more than .3 at the end, by the bits of a
--     skill?
-- fresh fresh-parity-width-bits: Where rarer skills get ahead
-- found: Rarer skills get ahead of more frequent ones more often where skills have four or five bits: in {many:.0%} of
--     the runs, against {few:.0%} with two or three, a difference of {difference:.0%}.
-- contrary: Rarer skills get ahead of more frequent ones more often where skills have two or three bits: in {few:.0%}
--     of the runs, against {many:.0%} with four or five, a difference of {less:.0%}.
-- cannot be told: Whether rarer skills get ahead of more frequent ones more often with many bits a skill cannot be
--     told: in {many:.0%} of the runs with four or five, in {few:.0%} with two or three.
select
    seed, avg(order_violated::integer) filter (where m >= 4) as many,
    avg(order_violated::integer) filter (where m <= 3) as few,
    many - few as difference, few - many as less, many - few as effect
from runs
where outcome <> 'diverged'
group by seed
