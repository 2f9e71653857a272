-- sweeps: diagram-rho-width
-- asks: Of every seed, in the mean of its runs: by how much does the second mode miss its naive time, in nets of two
--     and of twenty hidden units?
-- fresh fresh-rho-width: The second mode of a narrow net is late by the naive law
-- found: A net with two hidden units learns its second mode later than the naive law says, one with twenty hardly:
--     {narrow:.1%} late with two against {wide:.1%} with twenty, at sigma = 0.001.
-- not found: A net with two hidden units learns its second mode no later, against the naive law, than one with twenty:
--     {narrow:.1%} late with two against {wide:.1%} with twenty, at sigma = 0.001.
-- cannot be told: Whether a net with two hidden units learns its second mode later, against the naive law, than one
--     with twenty cannot be told: {narrow:.1%} late with two against {wide:.1%} with twenty, at sigma = 0.001.
select
    seed, avg(late) filter (where width = 2) as narrow, avg(late) filter (where width = 20) as wide,
    narrow - wide as effect
from (select *, naive_delay[2] - 1 as late from runs where sigma = 0.001)
group by seed
