-- always: Features that are free parameters collapse: NC1, NC2 and NC3 go to 0 [2.5, 3.5.2, (D.6) to (D.8)]
-- asks: Of every seed with decay: is NC1 < .01, NC2 < .2 and NC3 < .2 at the end?
-- sweeps: claim-unconstrained-collapse
-- setting: C = {classes}, start {start:g}
-- measured: median NC1 {median(final_nc1):.1e}, NC2 {median(final_nc2):.1e}, NC3 {median(final_nc3):.1e}
select *, fate = 'collapsed' as holds from runs
