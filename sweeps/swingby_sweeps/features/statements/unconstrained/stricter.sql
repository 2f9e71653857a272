-- exists: Neural collapse can be had outside the minimum feature regime, so that the regime asks for more [2.5.3]
-- asks: Of every seed: have the features collapsed by NC1 to NC3, with a kappa of .1 or more?
-- sweeps: claim-unconstrained-without-decay
-- setting: start {start:g}, {width} features
-- measured: {count(*) filter (where holds)} of {count(*)} seeds, largest kappa of a collapsed run {max(final_kappa_cka)
--     filter (where fate = 'collapsed'):.2f}
select *, fate = 'collapsed' and final_kappa_cka >= 0.1 as holds from runs where start >= 0.3 and fate <> 'unresolved'
