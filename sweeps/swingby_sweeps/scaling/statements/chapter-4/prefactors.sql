-- always: The prefactors of the power laws can be computed as well [4.4, which leaves them out]
-- asks: Of every alpha: is L + L_C at the end of the curve theory's prefactor times x to the exponent of Table 4.1,
--     within 1 %, where scaling has begun and the last skill has not?
-- sweeps: table-4-1
-- setting: {bottleneck}, {model}
-- measured: prefactor of L + L_C over that by theory, less 1: {100 * min(off):.2f} to {100 * max(off):.2f} %
select *, prefactor / predicted_prefactor - 1 as off, abs(prefactor / predicted_prefactor - 1) <= 0.01 as holds
from by_alpha
where regime = 'scaling'
