-- always: Modes of a linear model saturate from the start, without a delay [3.4.1, Fig 3.3a]
-- asks: Of every seed: does each mode of one layer spend less than a twentieth of its time to 95 % of the target below
--     5 %?
-- sweeps: figure-3-3
-- setting: layers = {layers}
-- measured: {100 * min(least):.1f} to {100 * max(most):.1f} % of the time to 95 % are spent below 5 %
select *, list_min(delay) as least, list_max(delay) as most, most < 0.05 as holds from runs where layers = 1
