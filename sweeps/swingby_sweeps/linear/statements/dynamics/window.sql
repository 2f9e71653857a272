-- always: With a tail of n/10 and less there is a time at which the signal is learned and the noise is not yet [1.6.1,
--     with n/T in place of (p - d)/n]
-- asks: Of every sample: is the signal learned before the noise is half fitted?
-- sweeps: claim-linear-window
-- setting: {features}, T = {tail:g}
-- measured: noise later by a factor of {min(fit_window):.2g} to {max(fit_window):.2g}; theory says
--     {any_value(predicted_fit_window):.2g}
select *, window_state in ('open', 'narrow') as holds from runs where tail < 100
