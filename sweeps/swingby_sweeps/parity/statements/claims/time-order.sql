-- in most seeds: More frequent skills emerge first [5.2.1, Fig 5.1(a)]
-- asks: Of every seed: does R_k/S of skill 1 to 5 reach one half in this order? A skill that does not get there within
--     the run comes after all others; several such skills tell no order among themselves.
-- sweeps: figure-5-1a
-- setting: batches of {batch_size}
-- measured: steps to half the strength, medians of skills 1 to 5: {median(emergence_times[1]):.0f},
--     {median(emergence_times[2]):.0f}, {median(emergence_times[3]):.0f}, {median(emergence_times[4]):.0f},
--     {median(emergence_times[5]):.0f} (of those within the run)
select
    preset, seed, batch_size, emergence_times,
    list_transform(emergence_times, lambda t: coalesce(t, training_steps + 1)) as all_times,
    all_times = list_sort(all_times) and emergence_times[2] is not null as holds
from runs
where outcome <> 'diverged'
