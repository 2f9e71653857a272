-- claim: A linear net learns its modes in the order of their correlations
-- source: 3.5.1, (3.15)
-- order: 2.1
-- sweeps: claim-layerwise-times
-- rule: in most seeds
-- setting: p = {width}, sigma = {sigma}
-- measured: another order in {count(*) filter (where not order_follows_rho)} of {count(order_follows_rho)} runs
--
-- Of every seed: do the strengths of rho = 3, 2, 1 reach one half in this order?
select *, order_follows_rho as holds from runs
