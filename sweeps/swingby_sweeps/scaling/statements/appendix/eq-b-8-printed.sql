-- always: dR/dT is -eta b da/dT + a db/dT [eq B.8, first form, as printed]
-- asks: Of every alpha: is the growth of the first skill, by differences between a tenth and nine tenths of S, that of
--     the first form of B.8, within 1 % of 2 eta p R (S - R)?
-- sweeps: claim-scaling-growth
-- after: Asked of more values of alpha, by a sweep of its own; the predicate is what it was.
-- setting: eta = {lr:g}
-- measured: dR/dT over 2 eta p R (S - R): {min(growth_ratio):.4f} to {max(growth_ratio):.4f}; the first form of B.8
--     says {any_value(printed_growth_ratio):.2f}
-- why: The first form of B.8 as printed has a stray -eta. With a = b it would leave (1 - eta)/2 of the growth, and
--     nothing of it at eta = 1.
select * replace (round(1000 * alpha)::bigint as seed), abs(growth_ratio - printed_growth_ratio) <= 0.01 as holds
from runs
