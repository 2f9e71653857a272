-- Of every seed: is training on the mean over coordinates the same as training on half the sum with the learning rate
-- times 2/d? Checked where the factor is known to be one, d = 2: the two reductions of one seed must give the same OOD
-- loss, within 0.1 % of L_ref at every recorded step.
with
-- include: claims/shared/runs,
pairs as (
    select
        one.convention, one.seed, one.layers, one.d, one.width, one.lr,
        list_max(
            list_transform(list_zip(one.ood_loss, two.ood_loss), lambda pair: abs(pair[1] - pair[2]))
        ) / one.l_ref as apart
    from runs one join runs two
    using (convention, seed, layers, d, width, lr, mu, bias, zero_cluster, sigma_is, shuffle)
    where one.reduction = 'mean' and two.reduction = 'half_sum' and abs(one.time_per_step - two.time_per_step) < 1e-12
        and one.step = two.step
)
select
    convention, format('L = {}, d = {}, width {}, lr {}', layers, d, width, lr) as setting,
    count(*) as n,
    count(*) filter (where apart <= 0.001) as k,
    format('largest difference {:.2g} L_ref', max(apart)) as measured
from pairs
group by convention, layers, d, width, lr
order by convention, layers, d, width
