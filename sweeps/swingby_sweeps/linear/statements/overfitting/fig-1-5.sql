-- claim: Overfitting is malignant for the tenth mode
-- source: Fig 1.5
-- order: 3.2
-- sweeps: figure-1-5
-- rule: in most seeds
-- setting: T = {tail:g}
-- measured: B = {median(signal_error):.2f} (median), theory {any_value(predicted_signal_error):.2f}
--
-- Of every sample: is the fit malignant, so that it fits the points and B is above .5?
select *, fit = 'malignant' as holds from runs
