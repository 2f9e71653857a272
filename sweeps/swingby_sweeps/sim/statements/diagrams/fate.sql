-- asks: Of every run of the grid: how does it end?
-- found: Most runs get to the answer: {found:.0%} of {sum(runs)::bigint}; {stuck:.1%} end on a plateau, {diverged:.1%}
--     diverge.
-- contrary: Most runs do not get to the answer: {found:.0%} of {sum(runs)::bigint} do; [numbers]
-- cannot be told: About half of {sum(runs)::bigint} runs get to the answer: {found:.0%}; [numbers]
-- numbers: {stuck:.0%} end on a plateau, {diverged:.1%} diverge.
--
-- slug ratio-spread-fate: diagram-ratio-spread
-- slug ratio-spread-fate-relu: diagram-ratio-spread-relu
-- slug dimension-width-fate: diagram-dimension-width
-- slug dimension-width-fate-relu: diagram-dimension-width-relu
-- slug depth-gain-fate: diagram-depth-gain
-- slug depth-gain-fate-relu: diagram-depth-gain-relu
-- slug width-gain-fate: diagram-width-gain
-- slug width-gain-fate-relu: diagram-width-gain-relu
-- slug ratio-gain-fate: diagram-ratio-gain
-- slug ratio-start-fate: diagram-ratio-start
-- slug rate-depth-fate: diagram-rate-depth
-- slug rate-depth-fate-relu: diagram-rate-depth-relu
-- slug distance-fate: diagram-distance
-- slug distance-fate-relu: diagram-distance-relu
-- slug spread-time-fate-relu: diagram-spread-time-relu
select
    seed, count(*) as runs, avg(found::integer) as found,
    avg((outcome in ('plateau', 'failed'))::integer) as stuck,
    avg((outcome = 'diverged')::integer) as diverged,
    avg(found::integer) - 0.5 as effect
from placed
group by seed
