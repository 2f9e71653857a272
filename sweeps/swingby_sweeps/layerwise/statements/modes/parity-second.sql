-- in most seeds: The modes alpha and beta of the parity net saturate at similar times [C.4]
-- asks: Of every seed of the gradient flow of (C.9): does beta take at most a quarter longer than alpha, to 5, 50 and
--     95 % of their ends?
-- sweeps: figure-c-2
-- measured: beta takes {median(ratio):.2f} times as long as alpha (median)
-- setting: to {level} of the end; start = {start}
select *, second as ratio, second <= 1.25 as holds from parity_times
