-- sweeps: diagram-alpha-start
-- asks: Of every run: how many consecutive pairs, from the first on, overlap by at most 5 %, beside the estimate from
--     the power of the second moments and the start? Runs count whose estimate is at most 8, since there are nine
--     pairs.
-- fresh fresh-alpha-start: Few modes of a power law are learned in stages
-- found: Of ten modes of a power law only the first pairs are learned in stages, up to pair number (alpha + 1)/2 ln c /
--     ln 19 - 1/2: the number of pairs differs from its whole part by {any_value(off):.2f} in the mean. At alpha = 0.6
--     and below {any_value(few):.0%} of the runs with S / u(0) up to a million have three such pairs or fewer.
-- not found: The number of pairs that are learned in stages is not the whole part of (alpha + 1)/2 ln c / ln 19 - 1/2:
--     it differs from it by {any_value(off):.2f} in the mean.
-- cannot be told: No run tells how many of its pairs are stages.
-- holds: any_value(off) <= 0.5
with counted as (
    select *, abs(stages - floor(greatest(expected_stages, 0))) as away from runs where expected_stages <= 8
)
select
    away, (select avg(away) from counted) as off,
    (select avg((stages <= 3)::integer) from counted where alpha <= 0.6 and start >= 0.001) as few
from counted
