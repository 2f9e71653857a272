-- Of every seed: does the order of the concepts reverse where a_1 = a_2? Concept 1 is ahead of 2 by the area between
-- r_1 and r_2 over the steps; along the grid, sorted by a_1/a_2, the sign of that area changes somewhere, and the place
-- is found by a straight line in log(a_1/a_2) between the two neighbours. A seed counts if the sign changes exactly
-- once, within a factor 1.25 of a_1 = a_2.
with
-- include: claims/shared/runs,
steps as (
    select
        convention, cell_id, seed, a, model, layers, d,
        unnest(step[2:]) - unnest(step[:-2]) as width,
        unnest(output[2:]) as placed, mu
    from runs
),
areas as (
    select
        convention, cell_id, seed, ln(any_value(a)[1] / any_value(a)[2]) as x,
        sum(width * (placed[1] / mu[1] - placed[2] / mu[2])) / sum(width) as ahead,
        any_value(model) as model, any_value(layers) as layers, any_value(d) as d
    from steps
    group by convention, cell_id, seed
),
along as (
    select *, lag(x) over grid as x_before, lag(ahead) over grid as before
    from areas
    window grid as (partition by convention, seed order by x)
),
changes as (
    select
        convention, seed,
        count(*) filter (where before < 0 and ahead >= 0) as up,
        count(*) filter (where before >= 0 and ahead < 0) as down,
        min(x_before - before * (x - x_before) / (ahead - before)) filter (where before < 0 and ahead >= 0) as place,
        any_value(model) as model, any_value(layers) as layers, any_value(d) as d, count(*) as points
    from along
    group by convention, seed
)
select
    convention,
    format('{}, L = {}, d = {}; {} points', any_value(model), any_value(layers), any_value(d), max(points)) as setting,
    count(*) as n,
    count(*) filter (where up = 1 and down = 0 and abs(place) <= ln(1.25)) as k,
    coalesce(
        format(
            'reverses at a_1/a_2 = {:.3f} (median), {:.3f} to {:.3f} (all seeds)',
            exp(median(place)), exp(min(place)), exp(max(place))
        ),
        'never reverses'
    ) as measured
from changes
group by convention
order by convention
