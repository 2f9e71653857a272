-- rule: share of seeds
-- why: The place is right on the average; in a single seed the initial weights probably move it.
-- setting: {any_value(model)}, L = {any_value(layers)}, d = {any_value(d)}; {max(points)} points
-- measured: {coalesce(format('reverses at a_1/a_2 = {:.3f} (median), {:.3f} to {:.3f} (all seeds)', exp(median(place)),
--     exp(min(place)), exp(max(place))), 'never reverses')}
--
-- slug: fig-2a-reversal
-- claim: One layer: the order reverses where the signals a_p are equal, as the signal strength grows
-- source: Fig 2a, 3.1, eq 4.1
-- order: 1.2
-- sweeps: figure-2a
--
-- slug: fig-2b-reversal
-- claim: One layer: the order reverses where the signals a_p are equal, as the diversity grows
-- source: Fig 2b, 3.1, eq 4.1
-- order: 1.4
-- sweeps: figure-2b
--
-- Of every seed: does the order of the concepts reverse where a_1 = a_2? Concept 1 is ahead of 2 by the area between
-- r_1 and r_2 over the steps; along the grid, sorted by a_1/a_2, the sign of that area changes somewhere, and the place
-- is found by a straight line in log(a_1/a_2) between the two neighbours. A seed counts if the sign changes exactly
-- once, within a factor 1.25 of a_1 = a_2.
with steps as (
    select
        preset, cell_id, seed, a, model, layers, d,
        unnest(step[2:]) - unnest(step[:-2]) as width,
        unnest(output[2:]) as placed, mu
    from runs
),
areas as (
    select
        preset, cell_id, seed, ln(any_value(a)[1] / any_value(a)[2]) as x,
        sum(width * (placed[1] / mu[1] - placed[2] / mu[2])) / sum(width) as ahead,
        any_value(model) as model, any_value(layers) as layers, any_value(d) as d
    from steps
    group by preset, cell_id, seed
),
along as (
    select *, lag(x) over by_signal as x_before, lag(ahead) over by_signal as before
    from areas
    window by_signal as (partition by preset, seed order by x)
)
select
    preset, seed, any_value(model) as model, any_value(layers) as layers, any_value(d) as d, count(*) as points,
    count(*) filter (where before < 0 and ahead >= 0) as up,
    count(*) filter (where before >= 0 and ahead < 0) as down,
    min(x_before - before * (x - x_before) / (ahead - before)) filter (where before < 0 and ahead >= 0) as place,
    up = 1 and down = 0 and abs(place) <= ln(1.25) as holds
from along
group by preset, seed
