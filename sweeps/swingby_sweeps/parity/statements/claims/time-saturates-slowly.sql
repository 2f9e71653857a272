-- in most seeds: A net takes longer to saturate than the multilinear model [5.3.2]
-- asks: Of every seed with one skill: is t(.95)/t(.05) larger than (5.2) says? No calibration enters. A run that does
--     not reach .95 but reaches one half takes longer, too.
-- sweeps: figure-5-2a
-- setting: m = {m}
-- measured: t(.95)/t(.05) {median(rise_ratio):.2f} (median); by (5.2) {any_value(predicted_rise_ratio):.2f}
select
    preset, seed, m, rise_ratio, predicted_rise_ratio,
    case
        when rise_ratio is not null then rise_ratio > predicted_rise_ratio
        when emergence_times[1] is not null then true
    end as holds
from runs
where outcome <> 'diverged'
