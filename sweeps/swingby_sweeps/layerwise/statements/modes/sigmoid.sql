-- always: From equal weights the modes of the flow emerge and saturate at the times of the sigmoid [(3.9), (3.12)]
-- asks: Of every seed: are the times to 5 %, to 50 % and from 5 to 95 % of each mode of two layers within a thousandth
--     of the closed form from its own weights? Equal weights by the integrated flow; unequal ones, a tenth apart, in
--     closed form, whose times are read off the curves.
-- sweeps: claim-layerwise-modes, figure-3-3
-- setting: layers = {layers}, {drive}, start = {start}
-- measured: largest relative error of a time {max(law_error):.2g}
select *, law_error < 0.001 as holds from runs where layers = 2 and drive <> 'gd'
