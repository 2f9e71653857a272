-- sweeps: diagram-skills-start
-- asks: Over how many times the exponent does the local exponent range within the two decades, where these end before
--     the last stage-like skill is learned (within), and where they begin when all stage-like skills are (beyond)? A
--     skill counts as learned at R = S/2, u_k = ln c. It is found if the median range exceeds the exponent within, and
--     is below a tenth of it beyond.
-- fresh fresh-skills-start: Where skills come one after the other, the loss is no power law yet
-- found: The assumption of 4.2.4 and the power law exclude each other at the first skills: where the loss goes by
--     stage-like pairs alone (the window ends within the stage-like skills), the local exponent ranges over
--     {median(spread) filter (where within):.1f} times the exponent (median of {count(*) filter (where within)}
--     points); where the window begins beyond the last stage-like pair, over {median(spread) filter (where beyond):.1g}
--     times ({count(*) filter (where beyond)} points).
-- not found: The local exponent ranges over {median(spread) filter (where within):.1f} times the exponent where the
--     window ends within the stage-like skills ({count(*) filter (where within)} points), and over {median(spread)
--     filter (where beyond):.1g} times where it begins beyond them ({count(*) filter (where beyond)}).
-- cannot be told: No window ends within the stage-like skills, or none begins beyond them.
-- holds: median(spread) filter (where within) > 1 and median(spread) filter (where beyond) < 0.1
select
    *, exponent_spread as spread,
    last_learned <= predicted_stages + 1 as within, first_learned > predicted_stages + 1 as beyond
from runs
where exponent is not null
