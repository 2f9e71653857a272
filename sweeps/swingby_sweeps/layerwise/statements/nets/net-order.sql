-- in most seeds: A linear net learns its modes in the order of their correlations [3.5.1, (3.15)]
-- asks: Of every seed: do the strengths of rho = 3, 2, 1 reach one half in this order?
-- sweeps: claim-layerwise-times
-- setting: p = {width}, sigma = {sigma}
-- measured: another order in {count(*) filter (where not order_follows_rho)} of {count(order_follows_rho)} runs
select *, order_follows_rho as holds from runs
