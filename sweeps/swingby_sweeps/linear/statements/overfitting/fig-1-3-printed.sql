-- in most seeds: Overfitting is benign for the first mode with the tail as printed [Fig 1.3, eq 1.36 as printed]
-- asks: Of every sample: is the fit benign, so that B is at most .05 and V at most .2?
-- sweeps: figure-1-3
-- setting: T = n
-- measured: B = {median(signal_error):.2f} (median), theory {any_value(predicted_signal_error):.2f}; V =
--     {median(noise_gain):.2f}, theory {any_value(predicted_noise_gain):.2f}
-- why: With T = n half of the first mode is not learned.
select *, fit = 'benign' as holds from runs where tail = 100
