-- sweeps: diagram-balanced
-- asks: Of every run from a balanced start: does it stall with a mode less than half learned, although it has enough
--     hidden units and was long enough? The share is to be within 6 % of one half where width >= d = c, and below 1 %
--     elsewhere.
-- fresh fresh-balanced: Half of all balanced square nets never learn their last mode
-- found: A balanced net with as many inputs as outputs, and no fewer hidden units, stalls in half of the starts:
--     {any_value(wide):.0%} of {any_value(n)} runs; of those with fewer hidden units {any_value(narrow):.0%}.
-- not found: Balanced nets with as many inputs as outputs, and no fewer hidden units, do not stall in half of the
--     starts: {any_value(wide):.0%} of {any_value(n)} runs; of those with fewer hidden units {any_value(narrow):.0%}.
-- cannot be told: No run tells how it ended.
-- holds: abs(any_value(wide) - 0.5) < 0.06 and any_value(narrow) < 0.01
select *, (select avg((fate = 'stalled')::integer) from runs where width >= d) as wide,
    (select count(*) from runs where width >= d) as n,
    (select avg((fate = 'stalled')::integer) from runs where width < d) as narrow
from runs where fate is not null
