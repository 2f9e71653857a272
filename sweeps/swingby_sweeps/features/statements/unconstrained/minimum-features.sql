-- law: Without decay, a small start leaves as many features as classes: kappa goes to 0 with the start [3.5.2]
-- asks: Of every seed: what is kappa at the end?
-- sweeps: claim-unconstrained-without-decay
-- within: 0.01
-- slope: 2
-- setting: {width} features
-- measured: median kappa {median(final_kappa_cka) filter (where start > 2):.2f} at a start of 3,
--     {median(final_kappa_cka) filter (where start < 0.2):.1e} at .1
select *, start as parameter, final_kappa_cka as error from runs where fate <> 'unresolved'
