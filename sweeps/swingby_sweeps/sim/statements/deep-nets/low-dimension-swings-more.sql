-- source: 3.3
-- rule: in the mean
-- setting: {drive}, width {width}, d = {min(d)} against {max(d)}
-- measured: swing {avg(value) filter (where side):.3f} at d = {min(d)}, {avg(value) filter (where not side):.3f} at d =
--     {max(d)} (means); above 0.02 in {count(*) filter (where side and value > 0.02)} of {count(*) filter
--     (where side)} seeds and {count(*) filter (where not side and value > 0.02)} of {count(*) filter (where not side)}
--
-- slug: low-dimension-swings-more
-- claim: At one width and one effective learning rate, a lower dimension swings by more
-- order: 3.6
-- sweeps: claim-dimension-width
-- after: The samples are compared by the chance that a swing of one is larger than one of the other: it was asked for in
--     95 % of seeds, put in pairs at random, which hid that wide nets do the reverse.
-- why: In narrow nets it holds, and in nets of 16 hidden units and more the reverse does: there the higher dimension
--     swings by more. The paper changes dimension, width and learning rate together.
--
-- slug: low-dimension-swings-more-fresh
-- claim: On fresh seeds: at one width and one effective learning rate, a lower dimension swings by more
-- order: 3.61
-- sweeps: claim-dimension-wide
-- after: Added when wide nets were seen to do the reverse: the same settings, on seeds that nothing was seen of.
-- why: As on the seeds before: it holds in narrow nets, and in nets of 16 hidden units and more the reverse does.
--
-- Does transient memorization grow as the dimension falls, at one hidden width and one effective learning rate? Draws
-- are independent between points, so the seeds of the lowest and of the highest dimension of the grid are two
-- independent samples of swings: of each seed the retreat max over k and t of (greatest r_k so far - r_k) before r_k
-- reaches a new height. The claim says that those of the lowest dimension are larger. Rows by width.
select preset, drive, width, d, seed, d = (select min(d) from swings) as side, swing as value
from swings
where d in (select min(d) from swings union all select max(d) from swings)
