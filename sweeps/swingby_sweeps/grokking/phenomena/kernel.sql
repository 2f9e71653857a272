-- title: The kernel: lazy or rich
-- experiment: mlp_regimes
-- regimes: lazy, crossover, rich
-- means: The features of the last hidden layer moved by less than a tenth of their size, by more than their size, or by
--     something between (final_feature_change; null unless the training data are fitted).
case when final_train_accuracy >= 0.9 then
    case when final_feature_change < 0.1 then 'lazy' when final_feature_change > 1 then 'rich' else 'crossover' end
end
