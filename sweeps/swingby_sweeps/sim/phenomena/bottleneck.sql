-- title: Bottleneck: too few hidden units for what is to be learned
-- experiment: sim
-- means: The narrowest layer has fewer units than there are concepts, and the run ends far from the target (outcome is
--     structural; null where it diverged or the records do not suffice).
case when certain and outcome <> 'diverged' then outcome = 'structural' end
