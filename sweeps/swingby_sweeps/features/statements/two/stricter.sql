-- slug minimal-is-stricter-than-collapse: claim-features-collapse
-- in most seeds: Minimum features are stricter than neural collapse: where kappa is small, features have collapsed
--     [2.5.3, Props 2.5.1 and 2.5.2: true of T_MP itself, not of kappa]
-- asks: Of every seed whose kappa of the training sample is below 0.1 at the end: has it collapsed (NC1 below 0.01, NC2
--     and NC3 below 0.2, NC4 below 0.01)?
-- setting: {nets}
-- measured: kappa of the training sample {median(final_train_kappa_cka):.3f}, NC1 {median(final_nc1):.2g}, NC2
--     {median(final_nc2):.2f} (medians)
-- after: Nets with batch norm were added when those without had been seen, since the convolutional nets of the source
--     have it. The predicate is as it was.
select *, concat(activation, if(batch_norm, ', batch norm', '')) as nets, collapse = 'full' as holds
from runs
where final_train_kappa_cka < 0.1
