-- always: With the ratio of differences as an exponent, (3.13) gives the overlap [(3.13), corrected]
-- asks: Of every seed: is the strength of the second mode, when both add to 1, within a hundredth of the rule? The
--     exponent is for equal weights; from weights that differ by a tenth it is asked of the closed form that it comes
--     from.
-- sweeps: claim-layerwise-stages
-- measured: measured over predicted {min(overlap / told):.6f} to {max(overlap / told):.6f}
-- setting: {modes} modes, layers = {layers}
select *, predicted_overlap as told, abs(overlap / predicted_overlap - 1) < 0.01 as holds from runs
