-- order: 2
-- rule: effect over seeds
-- found: Most runs get to the answer: {found:.0%} of {sum(runs)::bigint}; {stuck:.1%} end on a plateau, {diverged:.1%}
--     diverge.
-- contrary: Most runs do not get to the answer: {found:.0%} of {sum(runs)::bigint} do; {stuck:.0%} end on a plateau,
--     {diverged:.1%} diverge.
-- cannot be told: About half of {sum(runs)::bigint} runs get to the answer: {found:.0%}; {stuck:.0%} end on a plateau,
--     {diverged:.1%} diverge.
--
-- slug: ratio-spread-fate
-- sweeps: diagram-ratio-spread
--
-- slug: ratio-spread-fate-relu
-- sweeps: diagram-ratio-spread-relu
--
-- slug: dimension-width-fate
-- sweeps: diagram-dimension-width
--
-- slug: dimension-width-fate-relu
-- sweeps: diagram-dimension-width-relu
--
-- slug: depth-gain-fate
-- sweeps: diagram-depth-gain
--
-- slug: depth-gain-fate-relu
-- sweeps: diagram-depth-gain-relu
--
-- slug: width-gain-fate
-- sweeps: diagram-width-gain
--
-- slug: width-gain-fate-relu
-- sweeps: diagram-width-gain-relu
--
-- slug: ratio-gain-fate
-- sweeps: diagram-ratio-gain
--
-- slug: ratio-start-fate
-- sweeps: diagram-ratio-start
--
-- slug: rate-depth-fate
-- sweeps: diagram-rate-depth
--
-- slug: rate-depth-fate-relu
-- sweeps: diagram-rate-depth-relu
--
-- slug: distance-fate
-- sweeps: diagram-distance
--
-- slug: distance-fate-relu
-- sweeps: diagram-distance-relu
--
-- slug: spread-time-fate-relu
-- sweeps: diagram-spread-time-relu
--
-- Of every run of the grid: how does it end?
select
    seed, count(*) as runs, avg(found::integer) as found,
    avg((outcome in ('plateau', 'failed'))::integer) as stuck,
    avg((outcome = 'diverged')::integer) as diverged,
    avg(found::integer) - 0.5 as effect
from placed
group by seed
