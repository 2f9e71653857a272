-- Of every seed: do the runs of the code behind the figures show the same with all of the text's conventions at once
-- (half sum, no bias, no cluster at the origin, sigma as a standard deviation)? A pair shares its seed, so weights and
-- points agree as far as the conventions allow. It counts if the pair agrees on whether the OOD loss is non-monotone
-- and on the outcome, and their largest rises of the OOD loss differ by at most 5 % of L_ref.
with
-- include: claims/shared/runs,
pairs as (
    select
        one.convention, one.layers, one.d, one.width, one.lr, one.seed,
        one.non_monotone as one_rises, two.non_monotone as two_rises, one.outcome = two.outcome as same_outcome,
        one.bump_height as one_height, two.bump_height as two_height,
        one.transient_memorization as one_transient, two.transient_memorization as two_transient
    from runs one join runs two using (convention, seed, layers, d, width, lr, mu, shuffle)
    where one.reduction = 'mean' and one.bias and one.zero_cluster and one.sigma_is = 'variance'
        and two.reduction = 'half_sum' and not two.bias and not two.zero_cluster and two.sigma_is = 'sd'
)
select
    convention,
    format('L = {}, d = {}, width {}, lr {}; the code''s against the text''s', layers, d, width, lr) as setting,
    count(*) as n,
    count(*) filter (where one_rises = two_rises and same_outcome and abs(one_height - two_height) <= 0.05) as k,
    format(
        'non-monotone in {} against {} seeds, transient memorization in {} against {}',
        count(*) filter (where one_rises), count(*) filter (where two_rises),
        count(*) filter (where one_transient), count(*) filter (where two_transient)
    ) as measured
from pairs
group by convention, layers, d, width, lr
order by convention, layers, d, width
