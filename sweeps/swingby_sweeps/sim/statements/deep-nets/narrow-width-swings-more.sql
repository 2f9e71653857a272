-- claim: At one dimension and one effective learning rate, a narrower net swings by more
-- source: said beside 3.3
-- order: 3.7
-- sweeps: claim-dimension-width
-- rule: share of seeds
-- setting: d = {d}, width {any_value(low_width)} against {any_value(high_width)}
-- measured: swing {avg(low):.3f} at width {any_value(low_width)}, {avg(high):.3f} at width {any_value(high_width)}
--     (means)
--
-- Does transient memorization grow as the hidden width falls, at one dimension and one effective learning rate? Draws
-- are independent between points, so a seed of one is no partner of a seed of another: the i-th seeds of the narrowest
-- net with a width of at least 4 and of the widest are set beside each other, and a pair counts if the narrow net has
-- the larger swing, the retreat max over k and t of (greatest r_k so far - r_k) before r_k reaches a new height. A pair
-- without a swing above 0.02 in either tells nothing. Rows by d.
select
    low.preset, low.d, low.width as low_width, high.width as high_width, low.seed, low.swing as low,
    high.swing as high, case when greatest(low.swing, high.swing) > 0.02 then low.swing > high.swing end as holds
from swings low join swings high using (preset, d, seed)
where low.width = (select min(width) from swings where width >= 4) and high.width = (select max(width) from swings)
