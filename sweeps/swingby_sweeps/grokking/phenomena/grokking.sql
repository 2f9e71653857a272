-- title: Grokking: generalization long after the training data are fitted
-- experiment: mlp_regimes
-- means: The test accuracy arrives at least 3 times later than the training accuracy, and had at least 0.2 to go then
--     (generalization is grokked; null where it is unresolved, untrained or diverged).
grokked
