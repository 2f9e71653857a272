-- phenomenon: stages
-- title: Stages: one mode is learned after the other
-- experiment: modes
--
-- The first two modes overlap by at most 0.05: when both add up to one whole mode, the later one has at most 5 % of
-- its target (stage_like).
stage_like
