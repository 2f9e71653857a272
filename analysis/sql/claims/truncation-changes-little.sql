-- Of every seed: does the truncated training set (no point within min(mu)/2 of the test point) give the same OOD loss
-- as the whole one, within 5 % of L_ref at every recorded step? The two runs share their seed, so data and initial
-- weights agree but for the points drawn again.
with
-- include: claims/shared/runs,
pairs as (
    select
        whole.convention, whole.seed, whole.layers, whole.d, whole.width, whole.mu, whole.sigma_is,
        whole.bump_height, cut.bump_height as cut_bump, whole.outcome = cut.outcome as same,
        list_max(list_transform(
            list_zip(whole.ood_loss, cut.ood_loss), lambda pair: abs(pair[1] - pair[2])
        )) / whole.l_ref as apart
    from runs whole
    join runs cut using (convention, seed, model, layers, d, width, mu, sigma, lr)
    where not whole.truncate and cut.truncate
)
select
    convention, format('L = {}, d = {}, width {}, mu = {}, sigma is {}', layers, d, width, mu, sigma_is) as setting,
    count(*) as n,
    count(*) filter (where apart <= 0.05) as k,
    format(
        'largest difference {:.3f} L_ref (median seed), {:.3f} (worst); rise {:.3f} and {:.3f} L_ref (medians)',
        median(apart), max(apart), median(bump_height), median(cut_bump)
    ) as measured
from pairs
group by convention, layers, d, width, mu, sigma_is
order by convention, layers, d, width, mu
