-- always: NC3 as (D.8) prints it, weights with their mean over classes, goes to 0 [(D.8)]
-- asks: Of every seed whose features have collapsed: is |w_c/|w_c| - m_c/|m_c|| below .1?
-- sweeps: claim-unconstrained-collapse
-- setting: C = {classes}, start {start:g}
-- measured: (D.8) ends at {median(final_nc3_printed):.4f}, within {max(off_printed_nc3):.1e} of sqrt(2 - 2 sqrt((C -
--     1)/C))
-- why: without a bias the rows of W are orthogonal and keep their mean; the class means of (D.8) do not. With the mean
--     of W removed it holds.
select *, final_nc3_printed < 0.1 as holds from runs where fate = 'collapsed'
