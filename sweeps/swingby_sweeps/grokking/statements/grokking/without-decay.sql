-- in most seeds: Weight decay is what ends the plateau: without it the default memorises, and each of the four ways to
--     a richer start generalises [ours, beside Fig 6.5: 6.4.3 trains with weight decay, and does not say what it does]
-- asks: Of every seed of Table 6.1's settings without L2: is the final test accuracy below 0.85 by the default, and at
--     least 0.85 by each removal? Runs that still improve tell nothing.
-- sweeps: claim-grokking-without-decay
-- why: It holds in every setting of the larger net. In the smaller one a larger target and smaller outputs, which are
--     one run but for rounding where there is no decay, end at 0.84 in the median, short of 0.85.
-- setting: {removal}
-- measured: final test accuracy {median(final_test_accuracy):.2f}, final training accuracy
--     {median(final_train_accuracy):.2f} (medians)
select
    *,
    case
        when generalization not in ('unresolved', 'untrained', 'diverged')
            then (generalization = 'memorised') = (removal = 'default')
    end as holds
from removals
