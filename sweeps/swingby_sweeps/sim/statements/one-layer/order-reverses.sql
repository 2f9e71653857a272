-- asks: Of every seed: does the order of the concepts reverse where a_1 = a_2? Concept 1 is ahead of 2 by the area
--     between r_1 and r_2 over the steps; along the grid, sorted by a_1/a_2, the sign of that area changes somewhere,
--     and the place is found by a straight line in log(a_1/a_2) between the two neighbours. A seed counts if the sign
--     changes exactly once, within a factor 1.25 of a_1 = a_2. Also measured: the distance of that place from the tie,
--     |a_1 - a_2| over the larger, over the seeds that reverse once. Beyond it the order follows the larger a_p on
--     either side; the interval of its median is that of its ranks, at 95 %.
-- setting: {model}, L = {layers}, d = {d}; {points} points
-- measured: {coalesce(format('reverses at a_1/a_2 = {:.3f} (median), {:.3f} to {:.3f} (all seeds); in half of the seeds
--     the order is right on both sides from a distance of {:.1f} % on ({:.1f} to {:.1f} %), in 95 % of them from {:.0f}
--     % on', exp(median(place)), exp(min(place)), exp(max(place)), 100 * quantile_disc(away, 0.5), 100 * (list(away
--     order by away) filter (away is not null))[greatest(1, floor(count(away) / 2 - 0.98 *
--     sqrt(count(away))))::integer], 100 * (list(away order by away) filter (away is not null))[least(count(away),
--     ceil(count(away) / 2 + 1 + 0.98 * sqrt(count(away))))::integer], 100 * quantile_disc(away, 0.95)), 'never
--     reverses')}
-- after: Asked once more with points that come nearer to the tie, and measured how near to it the order can be relied
--     on.
-- why: The place is right on the average; in a single seed the initial weights probably move it.
--
-- slug fig-2a-reversal: figure-2a
-- in most seeds: One layer: the order reverses where the signals a_p are equal, as the signal strength grows [Fig 2a,
--     3.1, eq 4.1]
--
-- slug fig-2b-reversal: figure-2b
-- in most seeds: One layer: the order reverses where the signals a_p are equal, as the diversity grows [Fig 2b, 3.1, eq
--     4.1]
--
-- slug near-tie-reversal: claim-order-near-tie
-- in most seeds: The order of the concepts reverses where the signals a_p are equal, seen from nearby [3.1, eq 4.1]
with steps as (
    select
        preset, cell_id, seed, a, model, layers, d,
        unnest(step[2:]) - unnest(step[:-2]) as width,
        unnest(output[2:]) as placed, mu
    from runs
),
areas as (
    select
        preset, model, layers, d, cell_id, seed, ln(any_value(a)[1] / any_value(a)[2]) as x,
        sum(width * (placed[1] / mu[1] - placed[2] / mu[2])) / sum(width) as ahead
    from steps
    group by preset, model, layers, d, cell_id, seed
),
along as (
    select *, lag(x) over by_signal as x_before, lag(ahead) over by_signal as before
    from areas
    window by_signal as (partition by preset, model, layers, d, seed order by x)
)
select
    preset, model, layers, d, seed, count(*) as points,
    count(*) filter (where before < 0 and ahead >= 0) as up,
    count(*) filter (where before >= 0 and ahead < 0) as down,
    min(x_before - before * (x - x_before) / (ahead - before)) filter (where before < 0 and ahead >= 0) as place,
    case when up = 1 and down = 0 then 1 - exp(-abs(place)) end as away,
    up = 1 and down = 0 and abs(place) <= ln(1.25) as holds
from along
group by preset, model, layers, d, seed
