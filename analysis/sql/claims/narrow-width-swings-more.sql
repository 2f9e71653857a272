-- Does transient memorization grow as the hidden width falls, at one dimension and one effective learning rate? Draws
-- are independent between points, so a seed of one is no partner of a seed of another: the i-th seeds of the narrowest
-- net with a width of at least 4 and of the widest are set beside each other, and a pair counts if the narrow net has
-- the larger swing, the retreat max over k and t of (greatest r_k so far - r_k) before r_k reaches a new height. A pair
-- without a swing above 0.02 in either tells nothing. Rows by d.
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
),
entries as (
    select
        convention, cell_id, seed, d, width, k, unnest(list_transform(output, lambda f: f[k] / mu[k])) as r,
        unnest(step) as at_step
    from runs, (values (1), (2)) c(k)
),
heights as (
    select
        *, max(r) over (run order by at_step) as so_far,
        max(r) over (run order by at_step rows between current row and unbounded following) as later
    from entries
    window run as (partition by convention, cell_id, k)
),
swings as (
    select convention, d, width, seed, coalesce(max(so_far - r) filter (where later > so_far), 0) as swing
    from heights
    group by all
),
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
