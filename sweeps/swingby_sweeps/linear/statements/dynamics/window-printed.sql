-- always: Until eta t = (p - d)/n only the strong modes are learned [1.6.1: 1 << eta t << (p - d)/n, with the tail of
--     eq 1.36]
-- asks: Of every sample with the tail as printed: is the noise half fitted no sooner than at eta t = (p - d)/n?
-- sweeps: claim-linear-window
-- setting: {features}, T = n
-- measured: half of the noise is fitted at eta t = {min(noise_time):.2g} to {max(noise_time):.2g}; (p - d)/n is
--     {any_value((p - d) / n):.3g}
-- why: A mode of the tail is learned at rate u = n/(p - d) on the population. On a sample all of them fit the same
--     points, at the rate T/n = 1: the window is 1 << eta t << n/T, and empty for T = n.
select *, noise_time >= (p - d) / n as holds from runs where tail = 100
