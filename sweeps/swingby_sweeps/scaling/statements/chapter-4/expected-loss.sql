-- in the mean: Over data the mean loss is the sum of p_k (1 - p_k)^D [eqs 4.26, 4.29]
-- asks: Of every training set of 10^5 samples: is its loss, in the mean over sets, that of eq 4.29 as a power law with
--     its prefactor (the sum as an integral, good to 1e-5 here), within 1 %?
-- sweeps: claim-scaling-data
-- within: 0.01
-- setting: {model}, alpha = {alpha:g}
-- measured: loss over the mean by theory, less 1, at 10^5 samples: {100 * avg(effect):.2f} % (mean)
select *, prefactor / predicted_prefactor - 1 as effect from runs where predicted_prefactor is not null
