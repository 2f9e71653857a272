-- in most seeds: The mode gamma takes about twice as long as the others [C.4]
-- asks: Of every seed of the gradient flow of (C.9): does gamma take twice as long as alpha, to a tenth, to 5, 50 and
--     95 % of their ends?
-- sweeps: figure-c-2
-- measured: gamma takes {median(ratio):.2f} times as long as alpha (median)
-- why: It is twice as long only until gamma begins to grow. As starts shrink that ratio nears 11/6; half-way it nears
--     33/25, since alpha stays at a saddle until beta grows.
-- setting: to {level} of the end; start = {start}
select *, third as ratio, abs(third - 2) <= 0.2 as holds from parity_times
