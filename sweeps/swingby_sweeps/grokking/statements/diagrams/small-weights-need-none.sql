-- order: 2
-- sweeps: claim-grokking-without-decay
-- rule: one statement about all seeds
-- found: Without weight decay the removals are not equal: {smaller:.0%} of the test points are told at the end from smaller
--     weights, {inputs:.0%} with smaller inputs, {target:.0%} with a larger target, {outputs:.0%} with smaller outputs, and
--     {base:.0%} by the default (medians).
-- not found: Without weight decay the removals are equal within 2 %: {smaller:.0%} of the test points are told at the end
--     from smaller weights, {inputs:.0%} with smaller inputs, {target:.0%} with a larger target, {outputs:.0%} with smaller
--     outputs, and {base:.0%} by the default (medians).
-- cannot be told: No run without weight decay tells.
-- holds: any_value(spread > 0.02)
--
-- Of every removal of Table 6.1 without L2: what share of the test points is told at the end? Do the medians of the four
-- differ by more than 2 %?
with medians as (
    select removal, median(final_test_accuracy) as accuracy from removals where l2 = 0 group by removal
)
select
    0 as seed,
    max(accuracy) filter (where removal = 'smaller weights') as smaller,
    max(accuracy) filter (where removal = 'smaller inputs') as inputs,
    max(accuracy) filter (where removal = 'a larger target') as target,
    max(accuracy) filter (where removal = 'smaller outputs') as outputs,
    max(accuracy) filter (where removal = 'default') as base,
    max(accuracy) filter (where removal <> 'default') - min(accuracy) filter (where removal <> 'default') as spread
from medians
having count(*) > 0
