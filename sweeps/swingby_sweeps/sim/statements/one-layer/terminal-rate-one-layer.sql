-- asks: Of every seed without bias: is the terminal rate of concept k the theorem's a_k? The rate of log |r_k - 1| in
--     the time of the flow of L, without the initial-noise term, fitted by the detector over the last visit to [0.02,
--     0.3]. In steps lr a_max of at most 0.02 every rate has to lie within 15 % of a_k. As a law: the largest error of
--     a rate over the concepts goes with lr a_max, by descent to the power one (a descent in steps of h has the rate
--     -log(1 - h a_k) / h), by mini-batches to the power one half at least, and is within 5 % at the shortest step.
--     Seeds whose runs end before the terminal phase tell nothing.
--
-- slug terminal-rate-one-layer: claim-theorem-4-1, claim-theorem-4-1-steps
-- always: In short steps without a bias the terminal rate of a concept in one layer is its a_p [Theorem 4.1]
-- after: Asked where the theorem speaks: it was asked of runs with a bias, and in steps of up to nearly half of the
--     fastest time constant. The tolerance is what it was.
-- setting: one_layer by {drive}, d = {d}, mu = {mu}; steps of at most {max(parameter) filter (where holds is not
--     null):.2g} of the fastest time constant
-- measured: rate / a_k {median(ratio) filter (where holds is not null):.3f} (median), {min(ratio) filter (where holds
--     is not null):.3f} to {max(ratio) filter (where holds is not null):.3f} (all fits)
--
-- slug terminal-rate-one-layer-law: claim-theorem-4-1-steps
-- law: Without a bias the terminal rate of a concept in one layer nears its a_p as steps shrink [Theorem 4.1]
-- within: 0.05
-- slope: 0.5
-- after: Added when the terminal rates were found to have been asked in long steps only.
-- setting: one_layer by {drive}, d = {d}, mu = {mu}; steps of {max(parameter):.2g} to {min(parameter):.2g} of the
--     fastest time constant
-- measured: rate / a_k {median(ratio) filter (where longest):.3f} at the longest step, {median(ratio) filter (where
--     shortest):.3f} at the shortest; over that of a descent in steps {median(rate / in_steps) filter (where
--     longest):.3f} at the longest (medians)
with rates as (
    select
        preset, seed, drive, d, mu, lr, time_per_step * list_max(a) as parameter, unnest(terminal_rate) as rate,
        unnest(a) as signal, unnest(rate_in_steps) as in_steps
    from runs
    where model = 'one_layer' and drive in ('gd', 'sgd') and not bias and terminal_rate is not null
),
fits as (select *, rate / signal as ratio from rates where rate is not null)
select
    *, abs(ratio - 1) as error, parameter = min(parameter) over one as shortest,
    parameter = max(parameter) over one as longest,
    case when parameter <= 0.02 then abs(ratio - 1) <= 0.15 end as holds
from fits
window one as (partition by preset, drive, mu)
