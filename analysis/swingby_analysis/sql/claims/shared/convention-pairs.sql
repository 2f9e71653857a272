-- Pairs of runs of one seed that differ in nothing but `side`, and how often the two show the same.
pairs as (
    select
        one.convention, one.layers, one.d, one.width, one.seed, one.side as first, two.side as second,
        one.non_monotone as one_rises, two.non_monotone as two_rises, one.outcome as one_outcome,
        two.outcome as two_outcome,
        one.bump_height as one_height, two.bump_height as two_height,
        one.final_ood_loss / one.l_ref as one_final, two.final_ood_loss / two.l_ref as two_final
    from sides one join sides two using (convention, seed, layers, d, width, lr, mu, others)
    where one.side > two.side -- each pair once
)
select
    convention, format('L = {}, d = {}, width {}; {} against {}', layers, d, width, first, second) as setting,
    count(*) as n,
    count(*) filter (
        where one_rises = two_rises and one_outcome = two_outcome and abs(one_height - two_height) <= 0.05
    ) as k,
    format(
        'non-monotone in {} against {} seeds, final OOD loss {:.3f} against {:.3f} L_ref (medians)',
        count(*) filter (where one_rises), count(*) filter (where two_rises), median(one_final), median(two_final)
    ) as measured
from pairs
group by convention, layers, d, width, first, second
order by convention, layers, d, width
