-- Of every seed: is training on the mean over coordinates the same as training on half the sum with the learning rate
-- times 2/d? Pairs of runs of one seed whose learning rates differ by that factor must give the same OOD loss, within
-- 0.1 % of L_ref at every recorded step. Rows by d. Repaired after results were seen: it was asked at d = 2 alone,
-- where the factor is one.
with
-- include: claims/shared/runs,
pairs as (
    select
        one.convention, one.seed, one.layers, one.d, one.width, one.lr as lr_mean, two.lr as lr_half,
        list_max(
            list_transform(list_zip(one.ood_loss, two.ood_loss), lambda pair: abs(pair[1] - pair[2]))
        ) / one.l_ref as apart
    from runs one join runs two
    using (convention, seed, layers, d, width, mu, bias, zero_cluster, sigma_is, shuffle)
    where one.reduction = 'mean' and two.reduction = 'half_sum'
        and abs(two.lr / (one.lr * 2 / one.d) - 1) < 1e-9 and one.step = two.step
)
select
    convention, format('L = {}, d = {}, width {}; lr {} and {}', layers, d, width, lr_mean, lr_half) as setting,
    count(*) as n,
    count(*) filter (where apart <= 0.001) as k,
    format('largest difference {:.2g} L_ref', max(apart)) as measured
from pairs
group by convention, layers, d, width, lr_mean, lr_half
order by convention, layers, d, width
