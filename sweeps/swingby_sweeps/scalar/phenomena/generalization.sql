-- title: When what is memorized is generalized
-- experiment: sparse_diagonal
-- regimes: prompt, delayed, memorised
-- means: The test error falls to its threshold within 3 times as long as the training error to its own, later
--     (grokked), or not at all (fate; null where the decay shrinks the fit, and where the run is unresolved or
--     diverged).
case when fate in ('prompt', 'memorised') then fate when fate = 'grokked' then 'delayed' end
