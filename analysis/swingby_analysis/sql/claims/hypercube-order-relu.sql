-- Of every seed of two ReLU layers, as the caption says: after epochs 1, 3 and 5, does u <= v entry by entry imply
-- loss(x^(u)) <= loss(x^(v)) (B.2) for every pair of test points? A pair is out of order if loss(x^(u)) > 1.02
-- loss(x^(v)) + 0.001; the records nearest to the end of the epochs are taken. Seeds in which no pair has a loss above
-- 0.001 then tell nothing. One row with the node v = 0, one without.
with
-- include: claims/shared/runs,
asked as (
    select * from runs where hierarchy_loss is not null and drive = 'sgd' and model = 'relu'
),
-- include: claims/shared/hypercube
