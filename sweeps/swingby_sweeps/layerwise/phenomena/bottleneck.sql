-- title: Bottleneck: too few hidden units for what is to be learned
-- experiment: linear_net
-- means: The hidden layer has fewer units than there are modes, and as many modes as units are learned (fate is
--     structural).
case when fate not in ('diverged', 'unfinished') then fate = 'structural' end
