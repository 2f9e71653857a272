-- always: The strong modes are learned from eta t = 1 on, and have been by eta t = 10 [1.6.1, signal fitting phase]
-- asks: Of every sample with a tail much below n: does the first mode come to 90 % of its end between eta t = 1 and 10?
-- sweeps: claim-linear-window
-- setting: {features}, T = {tail:g}
-- measured: eta t = {min(signal_time):.2g} to {max(signal_time):.2g} at 90 %; eq 1.26 says
--     {any_value(predicted_signal_time):.2g}
select *, signal_time between 1 and 10 as holds from runs where tail <= 1
