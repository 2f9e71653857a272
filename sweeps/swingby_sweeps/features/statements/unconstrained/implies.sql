-- always: The minimum feature regime's operator implies collapse: where kappa is 0, NC1 and NC2 hold [Propositions
--     2.5.1 and 2.5.2]
-- asks: Of every seed with kappa below .001 and equal classes: is NC1 < .01 and NC2 < .2?
-- sweeps: claim-unconstrained-collapse, claim-unconstrained-without-decay
-- setting: {classes} classes
-- measured: NC1 at most {max(final_nc1):.1e}, NC2 at most {max(final_nc2):.1e}
select *, final_nc1 < 0.01 and final_nc2 < 0.2 as holds from runs where final_kappa_cka < 0.001
