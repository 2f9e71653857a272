-- in the mean: Over data the loss falls with the exponent -alpha/(alpha + 1) [Table 4.1, eq 4.34; C.2 for the linear
--     model]
-- asks: Of every training set, to which samples are added from 10^3 to 10^5: is the exponent of the loss that of Table
--     4.1, in the mean over sets within 2 %? There are infinitely many skills.
-- sweeps: claim-scaling-data
-- within: 0.02
-- setting: {model}, alpha = {alpha:g}
-- measured: exponent over theory's, less 1: {100 * avg(effect):.2f} % (mean), {100 * min(effect):.1f} to {100 *
--     max(effect):.1f} % (all training sets)
select *, bias as effect from runs where followed_law is distinct from 'nothing left'
