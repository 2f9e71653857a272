-- asks: By eq 4.3 to leading order the loss rises from a typical start by a share of L_ref that the parameters give
--     (`predicted_rise` of the detector `theory_lines`). Is there more transient memorization where that is over one
--     percent than where it is not? Repaired after results had been seen: the rise had been taken from the peak of
--     w_12, and not from the loss's own trough.
-- found: There is more transient memorization where eq 4.3 predicts it of a typical start ({any_value(region):.0%} of
--     the grid) than elsewhere: {predicted:.0%} of the runs against {other:.0%}.
-- not found: There is less transient memorization where eq 4.3 predicts it of a typical start ({any_value(region):.0%}
--     of the grid) than elsewhere: {predicted:.0%} of the runs against {other:.0%}.
-- cannot be told: Whether there is more transient memorization where eq 4.3 predicts it of a typical start
--     ({any_value(region):.0%} of the grid) cannot be told: {predicted:.0%} of the runs against {other:.0%}.
--
-- slug ratio-gain-line: diagram-ratio-gain
-- slug ratio-start-line: diagram-ratio-start
select
    seed, (
        select avg((rise > 0.01)::integer) from (select any_value(predicted_rise) as rise from placed group by point)
    ) as region,
    avg(swings::integer) filter (where predicted_rise > 0.01) as predicted,
    avg(swings::integer) filter (where predicted_rise <= 0.01) as other,
    predicted - other as effect
from placed
where predicted_rise is not null
group by seed
