-- sweeps: diagram-scalar-steps
-- asks: Of every run with a target that is small beside its start: on which side of 2 and of 4 does lr E K_0 lie, and
--     how does descent end? Each is to be told right in 95 % of the runs.
-- fresh fresh-scalar-steps: A catapult needs a step of 2 to 4 over the first curvature, and a small target
-- found: With S/Sigma_0 below .1, descent is thrown up and settles exactly where lr E K_0 lies between 2 and 4: of the
--     runs from 2.05 to 3.5 {avg((descent = 'catapult')::integer) filter (where inside):.1%} are catapults, up to 1.95
--     {avg((descent = 'monotone')::integer) filter (where short):.1%} are monotone, and beyond 4.05 {avg((descent =
--     'diverged')::integer) filter (where far):.1%} diverge. Between 3.5 and 4 {avg((descent = 'catapult')::integer)
--     filter (where edge):.0%} are catapults.
-- not found: With S/Sigma_0 below .1, catapults do not fill the band of lr E K_0 from 2 to 4: of the runs from 2.05 to
--     3.5 {avg((descent = 'catapult')::integer) filter (where inside):.1%} are catapults, up to 1.95 {avg((descent =
--     'monotone')::integer) filter (where short):.1%} are monotone, and beyond 4.05 {avg((descent =
--     'diverged')::integer) filter (where far):.1%} diverge.
-- cannot be told: No run lies in the band.
-- holds: case when count(*) filter (where inside) > 0 then avg((descent = 'catapult')::integer) filter (where inside)
--     >= 0.95 and avg((descent = 'monotone')::integer) filter (where short) >= 0.95 and avg((descent =
--     'diverged')::integer) filter (where far) >= 0.95 end
select
    *, step_at_start < 1.95 as short, step_at_start between 2.05 and 3.5 as inside,
    step_at_start between 3.5 and 4 as edge, step_at_start > 4.05 as far
from runs
where target_ratio < 0.1
