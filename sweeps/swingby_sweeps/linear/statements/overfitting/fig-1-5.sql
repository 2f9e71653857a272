-- in most seeds: Overfitting is malignant for the tenth mode [Fig 1.5]
-- asks: Of every sample: is the fit malignant, so that it fits the points and B is above .5?
-- sweeps: figure-1-5
-- setting: T = {tail:g}
-- measured: B = {median(signal_error):.2f} (median), theory {any_value(predicted_signal_error):.2f}
select *, fit = 'malignant' as holds from runs
