-- title: When what is memorized is generalized
-- experiment: mlp_regimes
-- regimes: prompt, delayed, memorised
-- means: The test accuracy arrives within 3 times as long as the training accuracy, later (delayed or grokked), or not
--     at all (generalization; null where it is unresolved, untrained or diverged).
case
    when generalization in ('prompt', 'memorised') then generalization
    when generalization in ('delayed', 'grokked') then 'delayed'
end
