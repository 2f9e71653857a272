-- always: With finitely many skills the loss over time falls faster, as the law with L_C says [C.1, eq C.2]
-- asks: Of every alpha: is the exponent over time within 2 % of that of d ln L / d ln T = -alpha/(alpha + 1) (1 +
--     L_C/L), where scaling has begun and the last skill has not?
-- sweeps: table-4-1, figure-c-1
-- setting: {model}
-- measured: exponent over the law's, less 1: {100 * min(off):.2f} to {100 * max(off):.2f} %; over that of Table 4.1,
--     less 1: up to {100 * max(bias):.0f} %
select *, (1 + bias) / (1 + predicted_bias) - 1 as off, abs((1 + bias) / (1 + predicted_bias) - 1) <= 0.02 as holds
from by_alpha
where bottleneck = 'time' and skills is not null and regime = 'scaling'
