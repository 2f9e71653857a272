-- sweeps: diagram-parity-width-samples
-- asks: Of every seed: the mean number of skills learned in nets of at least twenty units and in narrower ones.
-- fresh fresh-parity-width-samples: What width buys where samples are scarce
-- found: Wide nets learn more skills from as many samples: nets of twenty units and more learn {wide:.2f} of five on
--     average over the diagram, narrower ones {narrow:.2f}, a difference of {difference:.2f}.
-- contrary: Wide nets learn fewer skills from as many samples: nets of twenty units and more learn {wide:.2f} of five
--     on average over the diagram, narrower ones {narrow:.2f}, a difference of {less:.2f}.
-- cannot be told: Whether wide nets learn more skills from as many samples cannot be told: nets of twenty units and
--     more learn {wide:.2f} of five on average over the diagram, narrower ones {narrow:.2f}.
select
    seed, avg(skills_learned) filter (where width >= 20) as wide, avg(skills_learned) filter (where width < 20) as narrow,
    wide - narrow as difference, narrow - wide as less, wide - narrow as effect
from runs
where outcome <> 'diverged'
group by seed
