-- in most seeds: Five skills of a power law are learned in stages [Fig 3.4, 4.2.4]
-- asks: Of every seed: do all four pairs of consecutive modes overlap by at most 5 %, as (3.14) asks of each?
-- sweeps: figure-3-4
-- setting: alpha = {alpha}, S / u(0) = {S_over_start:.2g}
-- measured: {median(stages):.0f} of 4 pairs are stages (median); the last pair overlaps by
--     {median(pair_overlaps[4]):.2g}
-- why: At the start of [T] 5 one pair of four overlaps by 5 % at most. Four need S / u(0) of 1.8e7.
select *, round(target / start ** 2) as S_over_start, stages = 4 as holds from runs
