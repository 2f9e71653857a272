-- in most seeds: One calibration on a net of one skill predicts the strength of later skills from their own samples
--     [(5.5), Fig 5.1(b)]
-- asks: Of every seed: is the mean of |R_k/S - predicted| over skills 2 to 5 and all training sets that were fitted at
--     most a tenth? For (5.5) as printed, and for the mean of its model, min(1, d_k/D_c), each with its own
--     calibration.
-- sweeps: figure-5-1b
-- setting: {law}
-- measured: mean error of R/S {avg(error):.3f}
select preset, seed, law, avg(abs(strength - predicted)) as error, error <= 0.1 as holds
from (
    select preset, seed, skill, strength, '(5.5) as printed' as law, printed as predicted from by_samples
    union all
    select preset, seed, skill, strength, 'min(1, d/D_c)', mean_law from by_samples
)
where skill > 1
group by preset, seed, law
