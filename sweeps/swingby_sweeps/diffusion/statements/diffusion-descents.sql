-- claim: Diffusion: the concept-space MSE of the held-out class falls, rises and falls, in single runs
-- source: Fig 6b, 5
-- order: 9.10
-- sweeps: figure-6-small, figure-6
-- rule: exists
-- after: The query was repaired: runs whose noise and few evaluations would have hidden it counted against it. A run
--     tells now if it could have shown a move to halfway between the class's own corner and that of a trained class,
--     which was fixed before the thresholds of the runs were looked at. Later its kind was named when results had been
--     seen: the paper shows a curve with that trend.
-- hours: yes
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('rise: {:.3g} (median), {:.3g} to {:.3g}', median(value), min(value), max(value)),
--     'nothing is told of any run')}{coalesce(format('; threshold: {:.3g} (median), {:.3g} to {:.3g}',
--     median(threshold), min(threshold), max(threshold)), '')}
--
-- Of every seed at a contrast: does the concept-space MSE of the held-out class fall, rise and fall again, by more than
-- the detector's threshold each (two descents or more)? A seed tells nothing where its threshold is higher than the MSE
-- halfway between the class's own corner and that of a trained class, 1/2 (1/2)^2: such a rise could not have been seen
-- there. Rows by judge and contrast. Repaired after results were seen: every run told before.
select
    *, mse_threshold as threshold, mse_bump as value,
    case when mse_threshold <= 0.5 ** 2 / 2 then coalesce(non_monotone, false) end as holds
from by_judge
