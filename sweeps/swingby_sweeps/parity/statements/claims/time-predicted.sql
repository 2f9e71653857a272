-- in most seeds: One calibration on a net of one skill predicts when later skills emerge [(5.2), Fig 5.1(a)]
-- asks: Of every seed: does skill k = 2, ..., 5 reach half its strength within a quarter of the time that (5.2)
--     predicts? One that has not when the run ends is late if a quarter more than its predicted time has passed.
-- sweeps: figure-5-1a
-- setting: skill {skill}, batches of {batch_size}
-- measured: measured over predicted {median(ratio):.2f} (median of the {count(ratio)} seeds within the run)
-- why: Later skills come later than decoupled ones would, with batches of 1000 points as with 200.
select
    preset, seed, batch_size, skill, time / predicted as ratio,
    case
        when time is not null then abs(time / predicted - 1) <= 0.25
        when training_steps >= 1.25 * predicted then false
    end as holds
from (
    select
        preset, seed, batch_size, training_steps, unnest(range(1, skills + 1)) as skill, unnest(emergence_times) as time,
        unnest(predicted_emergence_times) as predicted
    from runs
    where outcome <> 'diverged'
)
where skill > 1
