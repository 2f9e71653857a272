-- Does transient memorization grow as the hidden width falls, at one dimension and one effective learning rate? Draws
-- are independent between points, so a seed of one is no partner of a seed of another: the i-th seeds of the narrowest
-- net with a width of at least 4 and of the widest are set beside each other, and a pair counts if the narrow net has
-- the larger swing, the retreat max over k and t of (greatest r_k so far - r_k) before r_k reaches a new height. A pair
-- without a swing above 0.02 in either tells nothing. Rows by d.
with
-- include: claims/shared/runs,
-- include: claims/shared/swings,
pairs as (
    select
        low.convention, low.d, low.width as low_width, high.width as high_width, low.seed, low.swing as low,
        high.swing as high
    from swings low join swings high using (convention, d, seed)
    where low.width = (select min(width) from swings where width >= 4) and high.width = (select max(width) from swings)
)
select
    convention, format('d = {}, width {} against {}', d, any_value(low_width), any_value(high_width)) as setting,
    count(*) filter (where greatest(low, high) > 0.02) as n,
    count(*) filter (where greatest(low, high) > 0.02 and low > high) as k,
    format(
        'swing {:.3f} at width {}, {:.3f} at width {} (means)', avg(low), any_value(low_width), avg(high),
        any_value(high_width)
    ) as measured
from pairs
group by convention, d
order by convention, d
