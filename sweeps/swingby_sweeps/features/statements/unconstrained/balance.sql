-- always: W^T W - H H^T is conserved without decay, and falls as exp(-2 l t) with it [(3.8)]
-- asks: Of every seed, at every record: is |W^T W - H H^T| within a hundred-thousandth of its start of the law?
-- sweeps: claim-unconstrained-small-start
-- setting: l_W = l_H = {decay_w:g}
-- measured: at most {max(off_balance):.1e} of its start off
select *, off_balance < 1e-5 as holds from runs
