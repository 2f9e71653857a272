-- asks: Does transient memorization grow as the dimension falls, at one hidden width and one effective learning rate?
--     Draws are independent between points, so the seeds of the lowest and of the highest dimension of the grid are two
--     independent samples of swings: of each seed the retreat max over k and t of (greatest r_k so far - r_k) before
--     r_k reaches a new height. The claim says that those of the lowest dimension are larger. Rows by width.
-- setting: {drive}, width {width}, d = {min(d)} against {max(d)}
-- measured: swing {avg(value) filter (where side):.3f} at d = {min(d)}, {avg(value) filter (where not side):.3f} at d =
--     {max(d)} (means); a retreat beyond the noise in {100 * avg(retreat::integer) filter (where side):.0f} % and {100
--     * avg(retreat::integer) filter (where not side):.0f} % of the seeds
--
-- slug low-dimension-swings-more: claim-dimension-width
-- in the mean: At one width and one effective learning rate, a lower dimension swings by more [3.3]
-- after: Asked of two samples, by the chance that a swing of one is larger than one of the other: it was asked for in
--     nearly all of the seeds, put in pairs at random, which hid that wide nets do the reverse.
-- why: In the narrowest nets it holds, and in nets of sixteen hidden units and more the reverse does: there the higher
--     dimension swings by more, under the code's conventions from eight units on. The paper changes dimension, width
--     and learning rate together.
--
-- slug low-dimension-swings-more-fresh: claim-dimension-wide
-- in the mean: On fresh seeds: at one width and one effective learning rate, a lower dimension swings by more [3.3]
-- after: Added when wide nets were seen to do the reverse: the same settings, on seeds that nothing was seen of, and
--     then by full-batch descent besides, on draws of its own.
-- why: As on the seeds before: it holds in the narrowest nets, and in nets of sixteen hidden units and more the reverse
--     does: there the higher dimension swings by more, also by full-batch descent, which has no sampling noise. In the
--     widest most swings are small, and in few of these wide nets does the loss itself rise.
select preset, drive, width, d, seed, retreat, d = (select min(d) from swings) as side, swing as value
from swings
where d in (select min(d) from swings union all select max(d) from swings)
