-- phenomenon: bottleneck
-- title: Bottleneck: too few hidden units for what is to be learned
-- experiment: linear_net
--
-- The hidden layer has fewer units than there are modes, and as many modes as units are learned (end is structural).
case when "end" not in ('diverged', 'unfinished') then "end" = 'structural' end
