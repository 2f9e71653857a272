-- order: 1
-- rule: effect over seeds
-- found: Weight decay is what ends the plateau: from large weights a net tells {with_decay:.0%} of the test points at the
--     end with it, and {without:.0%} without, where it fits its training points as early.
-- not found: Weight decay is not what ends the plateau: from large weights a net tells {with_decay:.0%} of the test points
--     at the end with it, and {without:.0%} without.
-- cannot be told: Whether weight decay ends the plateau cannot be told: from large weights a net tells {with_decay:.0%} of
--     the test points at the end with it, and {without:.0%} without.
--
-- slug: decay-ends-it
-- sweeps: figure-6-5, claim-grokking-without-decay
-- fresh: fresh-grokking-without-decay
-- brief: Weight decay is what ends the plateau
--
-- Of every seed of Table 6.1's default that was trained with L2 and without, in the mean over the sizes of the net: what
-- share of the test points is told at the end?
select
    seed, avg(final_test_accuracy) filter (where l2 > 0) as with_decay,
    avg(final_test_accuracy) filter (where l2 = 0) as without, with_decay - without as effect
from removals
where removal = 'default'
group by seed
having count(*) filter (where l2 = 0) = count(*) filter (where l2 > 0)
