-- claim: The terminal rate of a concept in one layer is its a_p
-- source: Theorem 4.1
-- order: 1.10
-- sweeps: figure-2a, figure-2b
-- rule: share of seeds
-- why: With a bias the mean of the points is probably learned apart from their spread, whose rates are lower. Without
--     one the rate is that of a descent in steps as long as these, which is faster than the flow.
-- setting: one_layer, d = {d}, bias {bias}
-- measured: rate / a_k {median(rate / a):.3f} (median), {min(rate / a):.3f} to {max(rate / a):.3f} (all fits); over
--     that of a descent in steps {median(rate / in_steps):.3f} (median)
--
-- Of every seed: is the terminal rate of concept k the theorem's a_k, within 15 %, for every k and point of the grid?
-- One layer, SGD; the rate of log |r_k - 1| in the time of the flow of L, fitted by the detector (which takes the
-- initial-noise term off where there is no bias). Seeds whose runs end before the terminal phase tell nothing. Also
-- measured: the rate over that of a descent in steps, -log(1 - h a_k) / h (`rate_in_steps` of the detector `theory_lines`).
with rates as (
    select
        preset, seed, d, bias, unnest(terminal_rate) as rate, unnest(a) as a, unnest(rate_in_steps) as in_steps
    from runs
    where model = 'one_layer' and terminal_rate is not null
)
select *, coalesce(abs(rate / a - 1) <= 0.15, false) as holds from rates where rate is not null
