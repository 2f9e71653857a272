-- claim: W^T W - H H^T is conserved without decay, and falls as exp(-2 l t) with it
-- source: (3.8)
-- order: 60.8
-- sweeps: claim-unconstrained-small-start
-- rule: always
-- setting: l_W = l_H = {decay_w:g}
-- measured: at most {max(off_balance):.1e} of its start off
--
-- Of every seed, at every record: is |W^T W - H H^T| within a hundred-thousandth of its start of the law?
select *, off_balance < 1e-5 as holds from runs
