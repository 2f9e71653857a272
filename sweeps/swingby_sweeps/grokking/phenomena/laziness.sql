-- title: Laziness: the kernel hardly moves
-- experiment: mlp_regimes
-- means: The features of the last hidden layer move by less than a tenth of their size (final_feature_change), and the
--     training data are fitted.
case when final_train_accuracy >= 0.9 then final_feature_change < 0.1 end
