-- always: Flow is dw/dt = -eta (w^T Phi - Y) Phi^T [eq A.9, as printed]
-- asks: Of every sample with T = 0.1: is the first mode learned within a factor of two of ln 10/(n rho_1), the time by
--     eq A.9?
-- sweeps: claim-linear-window
-- setting: {features}
-- measured: eta t = {min(signal_time):.2g} to {max(signal_time):.2g}; eq A.9 says {any_value(predicted_signal_time /
--     n):.2g}
-- why: Eq A.9 lacks the 1/n of the loss in 1.3, and is n times as fast. The solution in which it ends is the same.
select *, signal_time * n / predicted_signal_time between 0.5 and 2 as holds from runs where tail < 1
