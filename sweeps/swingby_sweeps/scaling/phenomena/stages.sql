-- phenomenon: stages
-- title: Stages: one mode is learned after the other
-- experiment: multilinear
--
-- The first two skills overlap by at most 0.05 (stages; null where the curve does not show it).
stages >= 1
