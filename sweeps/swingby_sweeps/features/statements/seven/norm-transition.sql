-- slug norm-leads-to-minimum: figure-7-3
-- in most seeds: Where features are not minimal without batch norm, batch norm makes them minimal [Fig 7.3 (b) (there
--     of VGG16 on CIFAR100)]
-- asks: Of every seed whose kappa is 0.1 or more without batch norm: is it below 0.1 with it?
-- setting: {loss}
-- measured: kappa {median(with_norm):.3f} instead of {median(without):.3f} (medians)
select
    preset, seed, loss, max(final_kappa_cka) filter (where batch_norm) as with_norm,
    max(final_kappa_cka) filter (where not batch_norm) as without,
    if(without >= 0.1, with_norm < 0.1, null) as holds
from runs
group by preset, seed, loss
