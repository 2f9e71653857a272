-- Of every seed: is the run the same whether a step descends the mean over coordinates (the gradient carries 2/d) or
-- half their sum, at one learning rate? A pair shares its seed, so weights and points agree as far as the convention
-- allows. It counts if the pair agrees on whether the OOD loss is non-monotone and on the outcome, and their largest
-- rises of the OOD loss differ by at most 5 % of L_ref.
with
-- include: claims/shared/runs,
sides as (
    select *, reduction as side, row(bias, zero_cluster, sigma_is, shuffle) as others from runs
),
-- include: claims/shared/convention-pairs
