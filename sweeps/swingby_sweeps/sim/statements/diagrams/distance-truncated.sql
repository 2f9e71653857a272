-- asks: Of every seed, at the points of the coarser grid: is there less transient memorization where training points
--     near the test point were redrawn than where they were not? Where full-batch twins were recorded they have to say
--     so too.
-- found: Without training points near the test point there is less transient memorization: in {without_them:.0%} of the
--     stable runs against {with_them:.0%} with them, over the same grid.{any_value(twins)}
-- contrary: Without training points near the test point there is more transient memorization: in {without_them:.0%} of
--     the stable runs against {with_them:.0%} with them, over the same grid. It does not come from their being
--     there.{any_value(twins)}
-- cannot be told: Training points near the test point make no difference that can be told to transient memorization:
--     {without_them:.1%} of the stable runs without them, {with_them:.1%} with them, over the same
--     grid.{any_value(twins)}
-- after: It was asked of all runs, diverged and unstable ones too, and of no twins.
--
-- slug distance-truncated: diagram-distance, diagram-distance-truncated
-- slug distance-truncated-relu: diagram-distance-relu, diagram-distance-truncated-relu
select
    *, with_them - without_them as effect, coalesce(twins_with - twins_without, with_them - without_them) as effect_2,
    coalesce((
        select format(
            ' Of their full-batch twins {:.1f} % without them, {:.1f} % with them.',
            100 * avg(twins_without), 100 * avg(twins_with)
        )
        from with_points_near
    ), (select words from twins_lacking)) as twins
from with_points_near
