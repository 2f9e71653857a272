-- title: Emergence: nothing for a long time, then all of it
-- experiment: modes
-- means: The first mode spends more than half of its time up to 95 % of its target below 5 % (delay; null where it has
--     not arrived).
delay[1] > 0.5
