-- sweeps: diagram-scalar-steps
-- asks: Of every run: where does lr E K of the flattest solution lie, and does the run settle (theta within a
--     thousandth of its way from S), oscillate to the end, or diverge? Each is to be told right in 95 % of the runs.
-- fresh fresh-scalar-steps: Beyond the flattest solution descent oscillates, then diverges
-- found: How descent ends follows from the flattest solution, K = 2|S|/Z. Where lr E K of it is below 2 and lr E K_0
--     below 3, {avg((descent in ('monotone', 'catapult'))::integer) filter (where stable):.2%} of the runs settle,
--     {count(*) filter (where stable and descent = 'catapult'):,} of them by a catapult. Where it is from 2.1 to 3.8,
--     {avg((descent = 'unresolved')::integer) filter (where band):.1%} neither settle nor diverge but oscillate to the
--     end of 20,000 steps; beyond 4, {avg((descent = 'diverged')::integer) filter (where beyond):.1%} diverge.
-- not found: How descent ends does not follow from the flattest solution, K = 2|S|/Z, alone. Where lr E K of it is
--     below 2 and lr E K_0 below 3, {avg((descent in ('monotone', 'catapult'))::integer) filter (where stable):.2%} of
--     the runs settle; where it is from 2.1 to 3.8, {avg((descent = 'unresolved')::integer) filter (where band):.1%}
--     oscillate to the end of 20,000 steps; beyond 4, {avg((descent = 'diverged')::integer) filter (where beyond):.1%}
--     diverge.
-- cannot be told: No run lies where the flattest solution is too steep.
-- holds: case when count(*) filter (where band) > 0 and count(*) filter (where beyond) > 0 then avg((descent in
--     ('monotone', 'catapult'))::integer) filter (where stable) >= 0.95 and avg((descent = 'unresolved')::integer)
--     filter (where band) >= 0.95 and avg((descent = 'diverged')::integer) filter (where beyond) >= 0.95 end
select
    *, step_at_flattest < 2 and step_at_start < 3 as stable,
    step_at_flattest between 2.1 and 3.8 and step_at_start < 3 as band, step_at_flattest > 4 as beyond
from runs
