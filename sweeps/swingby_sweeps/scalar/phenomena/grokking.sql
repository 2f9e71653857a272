-- title: Grokking: generalization long after the training data are fitted
-- experiment: sparse_diagonal
-- means: The test error falls to its threshold at least 3 times later than the training error to its own (fate is
--     grokked; null where it is unresolved or diverged).
case when fate not in ('unresolved', 'diverged') then fate = 'grokked' end
