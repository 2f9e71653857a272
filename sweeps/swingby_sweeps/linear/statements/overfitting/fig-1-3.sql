-- in most seeds: Overfitting is benign for the first mode with a small tail [Fig 1.3, with T = 1]
-- asks: Of every sample: is the fit benign, so that B is at most .05 and V at most .2?
-- sweeps: figure-1-3
-- setting: T = {tail:g}
-- measured: B = {median(signal_error):.4f} (median), theory {any_value(predicted_signal_error):.4f}; V =
--     {median(noise_gain):.3f}, theory {any_value(predicted_noise_gain):.3f}
select *, fit = 'benign' as holds from runs where tail = 1
