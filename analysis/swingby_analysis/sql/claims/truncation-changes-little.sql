-- Of every seed: does the truncated training set (no point within min(mu)/2 of the test point) give the same OOD loss
-- as the whole one, within 5 % of L_ref at every recorded step? The two runs share their seed, so data and initial
-- weights agree but for the points drawn again. Beside it: in how many seeds any point was (the recorded points differ,
-- or, where none are recorded, the training loss does).
with
-- include: claims/shared/runs,
pairs as (
    select
        whole.convention, whole.seed, whole.layers, whole.d, whole.width, whole.mu, whole.sigma, whole.sigma_is,
        whole.non_monotone as rises, cut.non_monotone as cut_rises,
        coalesce(whole.training_point <> cut.training_point, whole.train_loss <> cut.train_loss) as redrawn,
        list_max(list_transform(
            list_zip(whole.ood_loss, cut.ood_loss), lambda pair: abs(pair[1] - pair[2])
        )) / whole.l_ref as apart
    from runs whole
    join runs cut using (convention, seed, model, layers, d, width, mu, sigma, lr)
    where not whole.truncate and cut.truncate
)
select
    convention,
    format('L = {}, d = {}, width {}, mu = {}, sigma = {} ({})', layers, d, width, mu, sigma, sigma_is) as setting,
    count(*) as n,
    count(*) filter (where apart <= 0.05) as k,
    format(
        'some point was drawn again in {} of {} seeds; largest difference {:.3f} L_ref (median seed), {:.3f} (worst); '
        || 'non-monotone in {} seeds with these points, in {} without',
        count(*) filter (where redrawn), count(*), median(apart), max(apart),
        count(*) filter (where rises), count(*) filter (where cut_rises)
    ) as measured
from pairs
group by convention, layers, d, width, mu, sigma, sigma_is
order by convention, layers, d, width, mu, sigma
