-- slug features-norm-by-loss: diagram-features-norm-loss
-- asks: Of every seed, in the mean over learning rates from 0.01 to 0.2: how much smaller is kappa of the test sample
--     with batch norm than without, under either loss?
-- fresh fresh-features-norm-loss: Batch norm tightens features under cross-entropy most
-- found: Batch norm tightens features under cross-entropy more than under squared error: kappa falls by {entropy:.3f}
--     and by {squared:.3f} (means over learning rates from 0.01 to 0.2).
-- contrary: Batch norm tightens features under squared error more than under cross-entropy: kappa falls by
--     {squared:.3f} and by {entropy:.3f} (means over learning rates from 0.01 to 0.2).
-- cannot be told: Under which loss batch norm tightens features more cannot be told: kappa falls by {entropy:.3f} under
--     cross-entropy and by {squared:.3f} under squared error (means over learning rates from 0.01 to 0.2).
with falls as (
    select
        seed, lr, loss, max(final_kappa_cka) filter (where not batch_norm)
            - max(final_kappa_cka) filter (where batch_norm) as fall
    from runs
    where lr between 0.01 and 0.2
    group by seed, lr, loss
)
select
    seed, avg(fall) filter (where loss = 'cross_entropy') as entropy, avg(fall) filter (where loss = 'mse') as squared,
    entropy - squared as effect
from falls
group by seed
