-- asks: Of every seed: in what share of its runs is there transient memorization, where the test point is near the
--     nearest cluster, in units of sigma, and where it is far? Where full-batch twins were recorded: in what share of
--     these, which are the phenomenon without the noise that hides it? Both have to say so.
-- found: Transient memorization is rarer up to {any_value(low_to):.2g} sigma from the nearest centre than from
--     {any_value(high_from):.2g} sigma on: {low:.0%} of the stable runs against {high:.0%}, a difference of
--     {difference:.0%}; in between {middle:.0%}.{any_value(twins)}
-- contrary: Transient memorization is more common up to {any_value(low_to):.2g} sigma from the nearest centre than from
--     {any_value(high_from):.2g} sigma on: {low:.0%} of the stable runs against {high:.0%}, a difference of {less:.0%};
--     in between {middle:.0%}.{any_value(twins)}
-- cannot be told: Whether transient memorization is more common up to {any_value(low_to):.2g} sigma from the nearest
--     centre or from {any_value(high_from):.2g} sigma on cannot be told: {low:.0%} of the stable runs against
--     {high:.0%}, a difference of {difference:.0%}; in between {middle:.0%}.{any_value(twins)}
-- after: It was asked of all runs, diverged and unstable ones too, and of no twins, so that a part of the difference
--     was what noise hides near a cluster; and it was called "the farther, the more often", where the middle third of
--     the distances has what the highest has. The sweep on fresh seeds was trained once more, with twins.
--
-- slug distance-along-x: diagram-distance
-- fresh fresh-distance: Transient memorization is rarer close to a cluster, in units of the spread
--
-- slug distance-along-x-relu: diagram-distance-relu
-- slug distance-along-x-truncated: diagram-distance-truncated
-- slug distance-along-x-truncated-relu: diagram-distance-truncated-relu
select
    seed, (select low_distance from thirds) as low_to, (select high_distance from thirds) as high_from,
    low, middle, high, high - low as difference, low - high as less,
    high - low as effect, coalesce(twin_high - twin_low, high - low) as effect_2,
    coalesce((
        select
            ' Their full-batch twins: ' || twins_along.low || ' against ' || twins_along.high || '; in between '
            || twins_along.middle || '.'
        from twins_along where axis = 'distance'
    ), (select words from twins_lacking)) as twins
from sides
where axis = 'distance'
