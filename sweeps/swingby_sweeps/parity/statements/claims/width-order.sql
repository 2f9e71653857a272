-- claim: Nets prefer to use their units for more frequent skills
-- source: 5.2.3, Fig 5.1(c)
-- order: 5.8
-- sweeps: figure-5-1c
-- rule: in the mean
-- setting: skill {skill} beside the next
-- measured: R/S {avg(strength):.3f} and {avg(next_strength):.3f} (means over widths)
--
-- Of every seed: how much larger is R_k/S than R_(k+1)/S, on average over all widths?
select
    preset, seed, skill, avg(strength) as strength, avg(rarer) as next_strength, avg(strength - rarer) as effect
from by_width
where rarer is not null
group by preset, seed, skill
