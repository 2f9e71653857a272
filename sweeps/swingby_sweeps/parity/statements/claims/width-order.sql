-- in the mean: Nets prefer to use their units for more frequent skills [5.2.3, Fig 5.1(c)]
-- asks: Of every seed: how much larger is R_k/S than R_(k+1)/S, on average over all widths?
-- sweeps: figure-5-1c
-- setting: skill {skill} beside the next
-- measured: R/S {avg(strength):.3f} and {avg(next_strength):.3f} (means over widths)
select
    preset, seed, skill, avg(strength) as strength, avg(rarer) as next_strength, avg(strength - rarer) as effect
from by_width
where rarer is not null
group by preset, seed, skill
