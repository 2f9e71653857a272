-- claim: At one width and one effective learning rate, a lower dimension swings by more
-- source: 3.3
-- order: 3.6
-- sweeps: claim-dimension-width
-- rule: share of seeds
-- why: The paper changes dimension, width and learning rate together; taken apart, a lower dimension does it in narrow
--     nets at best.
-- setting: width {width}, d = {any_value(low_d)} against {any_value(high_d)}
-- measured: swing {avg(low):.3f} at d = {any_value(low_d)}, {avg(high):.3f} at d = {any_value(high_d)} (means)
--
-- Does transient memorization grow as the dimension falls, at one hidden width and one effective learning rate? Draws
-- are independent between points, so a seed of one is no partner of a seed of another: the i-th seeds of the lowest and
-- of the highest dimension of the grid are set beside each other, and a pair counts if the low dimension has the larger
-- swing, the retreat max over k and t of (greatest r_k so far - r_k) before r_k reaches a new height. A pair without a
-- swing above 0.02 in either tells nothing. Rows by width.
select
    low.preset, low.width, low.d as low_d, high.d as high_d, low.seed, low.swing as low, high.swing as high,
    case when greatest(low.swing, high.swing) > 0.02 then low.swing > high.swing end as holds
from swings low join swings high using (preset, width, seed)
where low.d = (select min(d) from swings) and high.d = (select max(d) from swings)
