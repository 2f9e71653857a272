-- sweeps: diagram-parity-delay
-- asks: Of every seed: the mean of t_k p_k / (t_1 p_1) over the skills 2 and 3 that are learned within the run, with 40
--     units and with 200.
-- fresh fresh-parity-delay: Wide nets are nearer to decoupled skills
-- found: The wider the net, the less the later skills wait: skills 2 and 3 come {narrow:.2f} times as late as their own
--     samples say with 40 units, and {wide:.2f} times with 200, a difference of {difference:.2f}.
-- contrary: The wider the net, the more the later skills wait: skills 2 and 3 come {narrow:.2f} times as late as their
--     own samples say with 40 units, and {wide:.2f} times with 200, a difference of {less:.2f}.
-- cannot be told: Whether later skills wait less in wider nets cannot be told: skills 2 and 3 come {narrow:.2f} times
--     as late as their own samples say with 40 units, and {wide:.2f} times with 200.
-- after: Asked when the times of figure-5-1a had been seen, which hang on the batch so little; on other seeds. Batches
--     of 100 were added beside 200 before results were seen, since a map has two axes.
select
    seed, avg(delay) filter (where width = 40) as narrow, avg(delay) filter (where width = 200) as wide,
    narrow - wide as difference, wide - narrow as less, narrow - wide as effect
from (select seed, width, unnest(decouplings[2:3]) as delay from runs where outcome <> 'diverged')
group by seed
