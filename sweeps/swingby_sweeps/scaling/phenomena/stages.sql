-- title: Stages: one mode is learned after the other
-- experiment: multilinear
-- means: The first two skills overlap by at most 0.05 (stages); where no strengths are recorded, or the curve does not
--     show it, by the closed form of the overlap (predicted_stages).
coalesce(stages, predicted_stages) >= 1
