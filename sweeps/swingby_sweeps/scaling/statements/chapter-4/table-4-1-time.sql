-- always: Over time the loss falls with the exponent -alpha/(alpha + 1) [Table 4.1, eq 4.25; C.2 for the linear model]
-- asks: Of every alpha: is the exponent over two decades of time that of Table 4.1 within 1 %, where there are
--     infinitely many skills and scaling has begun (by theory, from parameters alone)?
-- sweeps: table-4-1
-- after: It was named a law in L_C/L at first. That kind needs several seeds of one parameter, which a closed form does
--     not have, and gave no verdict; what finitely many skills do is asked by the claim of C.1.
-- setting: {model}
-- measured: exponent over that of the table, less 1: {100 * min(bias):.2f} to {100 * max(bias):.2f} %
select *, abs(bias) <= 0.01 as holds from endless where bottleneck = 'time'
