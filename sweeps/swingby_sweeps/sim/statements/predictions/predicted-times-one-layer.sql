-- asks: Of every seed without a bias: do both concepts arrive (the start of the final stretch of r_k >= 0.9) when the
--     theorem says, from the a_p of the population and the run's own start? In steps lr a_max of at most 0.02 every
--     time has to be within 10 % of its prediction; a seed tells nothing in longer ones. As a law: the largest error of
--     a time over the concepts goes with lr a_max, by descent to the power one, by mini-batches to the power one half
--     at least, and is within 5 % at the shortest step. A concept that should have arrived by the end and has not
--     counts against.
--
-- slug predicted-times-one-layer: claim-theorem-4-1, claim-theorem-4-1-steps
-- always: One layer in short steps: the concepts arrive at the times that the theorem predicts from the start [Theorem
--     4.1]
-- after: Split: one claim for the flow and for one layer together before. Later asked where the theorem speaks: it was
--     asked in steps of a fifth to nearly half of the fastest time constant. The tolerance is what it was.
-- setting: one_layer by {drive}, d = {d}, mu = {mu}; steps of {min(parameter):.2g} to {max(parameter):.2g} of the
--     fastest time constant, of which the short ones tell
-- measured: measured over predicted time {median(ratio) filter (where holds is not null):.3f} (median), {min(ratio)
--     filter (where holds is not null):.3f} to {max(ratio) filter (where holds is not null):.3f} (all)
--
-- slug predicted-times-one-layer-law: claim-theorem-4-1-steps
-- law: One layer: the times at which concepts arrive near those of the theorem as steps shrink [Theorem 4.1]
-- within: 0.05
-- slope: 0.5
-- after: Added when the times were found to have been asked in long steps only.
-- setting: one_layer by {drive}, d = {d}, mu = {mu}; steps of {max(parameter):.2g} to {min(parameter):.2g} of the
--     fastest time constant
-- measured: measured over predicted time {median(ratio) filter (where longest):.3f} at the longest step, {median(ratio)
--     filter (where shortest):.3f} at the shortest (medians)
with times as (
    select
        preset, seed, drive, d, mu, steps, time_per_step * list_max(a) as parameter,
        unnest(predicted_t90) as predicted, unnest(measured_t90) as measured
    from runs
    where model = 'one_layer' and drive in ('gd', 'sgd') and not bias and measured_t90 is not null
),
ratios as (select *, measured / predicted as ratio from times where predicted > 0 and predicted <= steps)
select
    *, abs(ratio - 1) as error, parameter = min(parameter) over one as shortest,
    parameter = max(parameter) over one as longest,
    case when parameter <= 0.02 then abs(ratio - 1) <= 0.1 end as holds
from ratios
window one as (partition by preset, drive, mu)
