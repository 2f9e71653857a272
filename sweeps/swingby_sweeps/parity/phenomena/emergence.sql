-- title: Emergence: nothing for a long time, then all of it
-- experiment: parity_net
-- means: The most frequent skill spends more than half of its time up to 95 % of its target below 5 % (rise_ratio is
--     below 2; null where it does not get there).
rise_ratio < 2
