-- asks: Theory places two gains for each depth and width: below the first a start is too small to leave the first
--     plateau in the time of the run, above the second it is too steep for the learning rate (`plateau_gain` and
--     `steep_gain` of the detector `theory_lines`). How do the runs below, between and above end? Repaired after
--     results had been seen: the first layer's fan-in had been left out of both lines.
-- found: Two lines of theory tell most fates. Left of the line of the first plateau {below:.0%} of the runs end on a
--     plateau; [numbers]
-- not found: The two lines of theory do not tell the fates: left of the line of the first plateau {below:.0%} of the
--     runs end on a plateau; [numbers]
-- cannot be told: Whether the two lines of theory tell most fates cannot be told: left of the line of the first plateau
--     {below:.0%} of the runs end on a plateau; [numbers]
-- numbers: between the lines {between_them:.0%} get to the answer; right of the line of steepness {above:.0%} diverge.
--
-- slug depth-gain-lines: diagram-depth-gain
-- fresh fresh-depth-gain: How a narrow net ends follows from its gain and depth
--
-- slug width-gain-lines: diagram-width-gain
select
    seed,
    avg((outcome in ('plateau', 'failed'))::integer) filter (where init_gain < plateau_gain) as below,
    avg(found::integer) filter (where init_gain between plateau_gain and steep_gain) as between_them,
    avg((outcome = 'diverged')::integer) filter (where init_gain > steep_gain) as above,
    below - 0.5 as effect, between_them - 0.5 as effect_2, above - 0.5 as effect_3
from placed
group by seed
