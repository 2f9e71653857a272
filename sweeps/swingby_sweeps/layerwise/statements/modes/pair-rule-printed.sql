-- always: (3.13) as printed gives the overlap [(3.13)]
-- asks: Of every seed: is the strength of the second mode, when both add to 1, within a hundredth of the rule? The rule
--     is taken as [T] prints it.
-- sweeps: claim-layerwise-stages
-- measured: printed value {min(told):.3g} to {max(told):.3g}, measured {min(overlap):.3g} to {max(overlap):.3g}
-- why: As printed, the ratio (E_(i+1) - E_i) / (E_(i+1) + E_i) is a factor of S / u(0) - 1. It is an exponent; a factor
--     makes eps negative.
-- setting: {modes} modes, layers = {layers}
select *, printed_overlap as told, abs(overlap / printed_overlap - 1) < 0.01 as holds from runs
