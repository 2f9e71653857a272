-- slug trained-on-they-collapse: claim-features-collapse
-- in most seeds: Features of a net that is trained long beyond fitting its labels collapse [2.5]
-- asks: Of every seed: is NC1 below 0.01, NC2 and NC3 below 0.2 and NC4 below 0.01 at the end?
-- setting: {nets}
-- measured: NC1 {median(final_nc1):.1g}, NC2 {median(final_nc2):.2f}, NC3 {median(final_nc3):.2f}, NC4
--     {max(final_nc4):.1g} at most; kappa of the training sample {median(final_train_kappa_cka):.3f} (medians)
-- after: Nets with batch norm were added when those without had been seen, since the convolutional nets of the source
--     have it. The predicate is as it was.
select *, if(batch_norm, 'relu, batch norm', 'relu') as nets, collapse = 'full' as holds
from runs
where activation = 'relu'
