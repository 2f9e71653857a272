-- Does transient memorization grow as the dimension falls, at one hidden width and one effective learning rate? Draws
-- are independent between points, so a seed of one is no partner of a seed of another: the i-th seeds of the lowest and
-- of the highest dimension of the grid are set beside each other, and a pair counts if the low dimension has the larger
-- swing, the retreat max over k and t of (greatest r_k so far - r_k) before r_k reaches a new height. A pair without a
-- swing above 0.02 in either tells nothing. Rows by width.
with
-- include: claims/shared/runs,
-- include: claims/shared/swings,
pairs as (
    select low.convention, low.width, low.d as low_d, high.d as high_d, low.seed, low.swing as low, high.swing as high
    from swings low join swings high using (convention, width, seed)
    where low.d = (select min(d) from swings) and high.d = (select max(d) from swings)
)
select
    convention, format('width {}, d = {} against {}', width, any_value(low_d), any_value(high_d)) as setting,
    count(*) filter (where greatest(low, high) > 0.02) as n,
    count(*) filter (where greatest(low, high) > 0.02 and low > high) as k,
    format(
        'swing {:.3f} at d = {}, {:.3f} at d = {} (means)', avg(low), any_value(low_d), avg(high), any_value(high_d)
    ) as measured
from pairs
group by convention, width
order by convention, width
