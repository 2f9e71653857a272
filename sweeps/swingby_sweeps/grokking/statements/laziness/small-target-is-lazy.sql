-- in the mean: Features change less where the target is smaller [6.4.1, Fig 6.3; 6.4.1 calls the lazier model alpha <
--     1, where its figure and 6.2.2 have alpha > 1]
-- asks: Of every seed, all layers trained: by what factor do the features change less than at target scale 1? Its
--     logarithm is the effect.
-- sweeps: figure-6-3
-- setting: target scale {lazy} against 1
-- measured: change of the features {median(final_feature_change):.3f} instead of {median(change_of_rich):.2f};
--     effective dimension {median(final_d_eff):.1f}, from {median(start_d_eff):.1f} at the start (medians)
select *, ln(change_of_rich / final_feature_change) as effect from lazy_beside_rich
