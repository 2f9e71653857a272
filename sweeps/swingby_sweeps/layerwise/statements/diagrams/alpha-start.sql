-- order: 1
-- sweeps: diagram-alpha-start
-- fresh: fresh-alpha-start
-- brief: Few modes of a power law are learned in stages
-- rule: one statement about all seeds
-- found: Of ten modes of a power law about (alpha + 1)/2 ln c / ln 19 pairs are learned in stages, the first ones:
--     where that is between 1 and 8, the number differs from it by {any_value(off):.2f} in the mean. At alpha = 0.6 and
--     below {100 * any_value(few):.0f} % of the runs with S / u(0) up to 10^6 have three stages or fewer.
-- not found: The number of pairs that are learned in stages is not about (alpha + 1)/2 ln c / ln 19: where that is
--     between 1 and 8, it differs by {any_value(off):.2f} in the mean.
-- cannot be told: No run tells how many of its pairs are stages.
-- holds: any_value(off) <= 1
--
-- Of every run: how many consecutive pairs, from the first on, overlap by at most 5 %, beside the estimate from the
-- power of the second moments and the start? About is a difference of at most 1 in the mean.
select *, (select avg(abs(stages - expected_stages)) from runs where expected_stages between 1 and 8) as off,
    (select avg((stages <= 3)::integer) from runs where alpha <= 0.6 and start >= 0.001) as few
from runs where stages is not null
