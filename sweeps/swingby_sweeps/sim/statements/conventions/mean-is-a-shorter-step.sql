-- always: The mean over coordinates is the half sum with the learning rate times two over the dimension [code behind
--     the figures]
-- asks: Of every seed: is training on the mean over coordinates the same as training on half the sum with the learning
--     rate times 2/d? Pairs of runs of one seed whose learning rates differ by that factor must give the same OOD loss,
--     within 0.1 % of L_ref at every recorded step. Rows by d. Repaired after results were seen: it was asked at d = 2
--     alone, where the factor is one.
-- sweeps: claim-shorter-step
-- after: The query was repaired: it was asked in two dimensions alone, where the factor is one. A sweep was added in
--     which it is not.
-- setting: L = {layers}, d = {d}, width {width}; lr {lr_mean} and {lr_half}
-- measured: largest difference {max(apart):.2g} L_ref
select
    one.preset, one.seed, one.layers, one.d, one.width, one.lr as lr_mean, two.lr as lr_half,
    list_max(
        list_transform(list_zip(one.ood_loss, two.ood_loss), lambda pair: abs(pair[1] - pair[2]))
    ) / one.l_ref as apart,
    coalesce(apart <= 0.001, false) as holds
from runs one join runs two
using (preset, seed, layers, d, width, mu, bias, zero_cluster, sigma_is, shuffle)
where one.reduction = 'mean' and two.reduction = 'half_sum'
    and abs(two.lr / (one.lr * 2 / one.d) - 1) < 1e-9 and one.step = two.step
