-- always: The modes of the parity net saturate in the order alpha, beta, gamma [C.4, Fig C.2]
-- asks: Of every seed of the gradient flow of (C.9): are the three squares half-way in this order?
-- sweeps: figure-c-2
-- setting: start = {start}
-- measured: beta after {median(half_time[2] / half_time[1]):.2f}, gamma after {median(half_time[3] / half_time[1]):.2f}
--     times as long as alpha (medians, to one half)
select *, in_order as holds from runs where system = 'parity3'
