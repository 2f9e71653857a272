-- sweeps: diagram-concepts-start
-- asks: Of every seed: how often does the loss descend, in the mean of its runs, with two and with six concepts?
-- found: More concepts bring more descents: {two:.2f} in the mean with two, {six:.2f} with six.
-- not found: More concepts bring fewer descents: {two:.2f} in the mean with two, {six:.2f} with six.
-- cannot be told: Whether more concepts bring more descents cannot be told: {two:.2f} in the mean with two, {six:.2f}
--     with six.
select
    seed, avg(descents_fine) filter (where s = 2) as two, avg(descents_fine) filter (where s = 6) as six,
    six - two as effect
from placed
group by seed
