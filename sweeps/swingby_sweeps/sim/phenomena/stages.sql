-- title: Stages: one mode is learned after the other
-- experiment: sim
-- means: The OOD loss has two descents or more: one concept is learned, the loss stands or rises, and another is
--     learned (descents_fine; null by SGD, whose noise hides small drops).
descents_fine >= 2
