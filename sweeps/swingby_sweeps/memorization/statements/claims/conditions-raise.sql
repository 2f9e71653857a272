-- in the mean: Conditions raise memorization, even labels drawn at random [G, abstract]
-- asks: Of every seed, beside the run from the same points and draws without conditions: how much larger is the share of
--     copies among the samples after 12,000 steps?
-- sweeps: diagram-memorization-condition
-- setting: {condition}, {points} training points
-- measured: {avg(with_it):.2f} of the samples are copies, {avg(without):.2f} without conditions (means)
select
    one.preset, one.seed, one.points, one.condition, one.final_memorized as with_it, base.final_memorized as without,
    with_it - without as effect
from runs one join runs base using (preset, seed, points)
where base.condition = 'none' and one.condition <> 'none'
