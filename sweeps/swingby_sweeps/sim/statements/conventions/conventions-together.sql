-- always: With all of the text's conventions at once the runs of the code behind the figures show the same [code behind
--     the figures, F.1]
-- asks: Of every seed: do the runs of the code behind the figures show the same with all of the text's conventions at
--     once (half sum, no bias, no cluster at the origin, sigma as a standard deviation)? A pair shares its seed, so
--     weights and points agree as far as the conventions allow. It counts if the pair agrees on whether the OOD loss is
--     non-monotone and on the outcome, and their largest rises of the OOD loss differ by at most 5 % of L_ref.
-- sweeps: claim-conventions
-- why: See the single conventions above.
-- after: Added when the single conventions had been judged, with their predicate. Later its kind was named when results
--     had been seen: it says that a convention makes no difference; one run in which it does is one.
-- setting: L = {layers}, d = {d}, width {width}, lr {lr}; the code's against the text's
-- measured: non-monotone in {count(*) filter (where one_rises)} against {count(*) filter (where two_rises)} seeds,
--     transient memorization in {count(*) filter (where one_transient)} against {count(*) filter (where two_transient)}
select
    one.preset, one.layers, one.d, one.width, one.lr, one.seed,
    one.non_monotone as one_rises, two.non_monotone as two_rises,
    one.transient_memorization as one_transient, two.transient_memorization as two_transient,
    coalesce(
        one_rises = two_rises and one.outcome = two.outcome and abs(one.bump_height - two.bump_height) <= 0.05, false
    ) as holds
from runs one join runs two using (preset, seed, layers, d, width, lr, mu, shuffle)
where one.reduction = 'mean' and one.bias and one.zero_cluster and one.sigma_is = 'variance'
    and two.reduction = 'half_sum' and not two.bias and not two.zero_cluster and two.sigma_is = 'sd'
