-- always: dR/dT is 2 eta p R (S - R) [eqs B.8 (last form), B.9]
-- asks: Of every alpha: is the growth of the first skill, by differences between a tenth and nine tenths of S, that of
--     eq B.9 within 1 %?
-- sweeps: claim-scaling-growth
-- after: Asked of more values of alpha, by a sweep of its own; the predicate is what it was.
-- setting: eta = {lr:g}
-- measured: dR/dT over 2 eta p R (S - R): {min(growth_ratio):.4f} to {max(growth_ratio):.4f}
select * replace (round(1000 * alpha)::bigint as seed), abs(growth_ratio - 1) <= 0.01 as holds from runs
