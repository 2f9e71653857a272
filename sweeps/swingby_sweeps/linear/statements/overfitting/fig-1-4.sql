-- in most seeds: With more features the fit to noise is smaller [Fig 1.4]
-- asks: Of every seed: does the energy of the fit to the noise fall from 100 to 400 to 2000 features?
-- sweeps: figure-1-4
-- setting: {features}
-- measured: V {median(v_100):.2f}, {median(v_400):.3f}, {median(v_2000):.4f} (medians, p = 100, 400, 2000)
select
    preset, features, seed, any_value(noise_gain) filter (where p = 100) as v_100,
    any_value(noise_gain) filter (where p = 400) as v_400, any_value(noise_gain) filter (where p = 2000) as v_2000,
    v_100 > v_400 and v_400 > v_2000 as holds
from runs
group by preset, features, seed
