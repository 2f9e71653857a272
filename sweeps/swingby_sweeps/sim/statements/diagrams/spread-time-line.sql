-- sweeps: diagram-spread-time-relu
-- asks: A piece of a ReLU net that meets one cluster alone learns along that cluster's spread at the rate sigma^2 / C.
--     Which of two lines tells better which runs get to the answer: sigma^2 T / C = 1 with T the time of the run
--     (`spread_needed` of the detector `theory_lines`), or one spread for all times, the one that errs least? A run
--     errs if it gets to the answer below the line, or does not above it.
-- fresh fresh-spread-time-relu: ReLU nets learn at the pace of the spread
-- found: Longer runs get to the answer at smaller spreads, as the line sigma^2 T / C = 1 says (T: time of the run, C:
--     number of clusters): above it {found_above:.0%} of the runs get to the answer, below it {found_below:.0%}. The
--     line is wrong about {by_time:.1%} of the runs, the best single spread, {any_value(border):.2g}, about
--     {by_spread:.1%}. So small spreads take longer; they are not out of reach.
-- not found: Longer runs do not get to the answer at smaller spreads as the line sigma^2 T / C = 1 says (T: time of the
--     run, C: number of clusters): [numbers]
-- cannot be told: Whether longer runs get to the answer at smaller spreads, as the line sigma^2 T / C = 1 says (T: time
--     of the run, C: number of clusters), cannot be told: [numbers]
-- numbers: above it {found_above:.0%} of the runs get to the answer, below it {found_below:.0%}. The line is wrong
--     about {by_time:.1%} of the runs, the best single spread, {any_value(border):.2g}, about {by_spread:.1%}.
-- after: Reworded: it spoke of a boundary, of T and of C without saying what they are.
with fixed as (
    select border, avg((found <> (spread > border))::integer) as wrong
    from placed, (select distinct spread as border from placed) borders
    group by border
),
best as (select arg_min(border, (wrong, border)) as border from fixed)
select
    seed, any_value(border) as border,
    avg((found <> (spread > spread_needed))::integer) as by_time,
    avg((found <> (spread > border))::integer) as by_spread,
    avg(found::integer) filter (where spread > spread_needed) as found_above,
    avg(found::integer) filter (where spread <= spread_needed) as found_below,
    by_spread - by_time as effect
from placed, best
group by seed
