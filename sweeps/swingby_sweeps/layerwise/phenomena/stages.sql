-- title: Stages: one mode is learned after the other
-- experiment: modes
-- means: The first two modes overlap by at most 0.05: when both add up to one whole mode, the later one has at most 5 %
--     of its target (stage_like). Deep modes pass this moment between two records; where records do not tell, the
--     closed form of the overlap does (predicted_overlap), which agrees wherever both tell.
coalesce(stage_like, predicted_overlap <= 0.05)
