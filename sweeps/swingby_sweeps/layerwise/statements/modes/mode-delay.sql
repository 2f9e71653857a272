-- always: Modes of two layers saturate after a delay [3.4.1, Fig 3.3b]
-- asks: Of every seed: does each mode of two layers spend more than a fifth of its time to 95 % of the target below 5
--     %?
-- sweeps: figure-3-3
-- setting: layers = {layers}
-- measured: {100 * min(least):.1f} to {100 * max(most):.1f} % of the time to 95 % are spent below 5 %
select *, list_min(delay) as least, list_max(delay) as most, least > 0.2 as holds from runs where layers = 2
