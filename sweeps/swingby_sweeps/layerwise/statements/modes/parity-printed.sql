-- exists: (C.15-18) as printed lead the parity net to its target [(C.15) to (C.18)]
-- asks: Of every seed of these equations: do all three modes reach 95 % of their end?
-- sweeps: figure-c-2
-- setting: start = {start}
-- measured: {count(*) filter (where status = 'diverged')} of {count(*)} runs diverge; {count(*) filter (where fate =
--     'saturated')} saturate
-- why: They are not the gradient of (C.9): signs and factors differ, so that small squares shrink, and c runs away. The
--     gradient is in `theory.parity_growth`.
select *, fate = 'saturated' as holds from runs where system = 'parity3_printed'
