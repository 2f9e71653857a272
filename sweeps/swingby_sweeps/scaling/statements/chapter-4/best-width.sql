-- always: The best width grows as C^(1/(alpha + 2)) [Table 4.1, eq 4.43]
-- asks: Of every alpha: does the best width for each compute C = T N grow with the exponent 1/(alpha + 2), within 1 %,
--     where there are infinitely many skills and the best width has more than ten?
-- sweeps: table-4-1
-- setting: {model}
-- measured: exponent over 1/(alpha + 2), less 1: {100 * min(off):.2f} to {100 * max(off):.2f} %
select *, width_exponent / theory_width_exponent - 1 as off,
    abs(width_exponent / theory_width_exponent - 1) <= 0.01 as holds
from endless where bottleneck = 'compute'
