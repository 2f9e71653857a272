-- asks: Of every seed: does the truncated training set (no point within min(mu)/2 of the test point) give the same OOD
--     loss as the whole one, within 5 % of L_ref at every recorded step? The two runs share their seed, so data and
--     initial weights agree but for the points drawn again. Also measured: in how many seeds any point was (the
--     recorded points differ, or, where none are recorded, the training loss does).
-- setting: L = {layers}, d = {d}, width {width}, mu = {mu}, sigma = {sigma} ({sigma_is})
-- measured: some point was drawn again in {count(*) filter (where redrawn)} of {count(*)} seeds; largest difference
--     {median(apart):.3f} L_ref (median seed), {max(apart):.3f} (worst); non-monotone in {count(*) filter (where
--     rises)} seeds with these points, in {count(*) filter (where cut_rises)} without
--
-- slug fig-16: figure-15, figure-16
-- in most seeds: Truncating the training set around the test point has little impact on the dynamics [Fig 16, F.3]
--
-- slug truncation-where-it-cuts: claim-truncation
-- in most seeds: Truncating has little impact also where it discards points in every seed [F.3, at wider clusters than
--     Fig 16]
-- after: Added when hardly a seed of the figure was seen to lose a point; the sweep was there already, and so was the
--     predicate.
select
    whole.preset, whole.seed, whole.layers, whole.d, whole.width, whole.mu, whole.sigma, whole.sigma_is,
    whole.non_monotone as rises, cut.non_monotone as cut_rises,
    coalesce(whole.training_point <> cut.training_point, whole.train_loss <> cut.train_loss) as redrawn,
    list_max(list_transform(
        list_zip(whole.ood_loss, cut.ood_loss), lambda pair: abs(pair[1] - pair[2])
    )) / whole.l_ref as apart,
    coalesce(apart <= 0.05, false) as holds
from runs whole join runs cut using (preset, seed, model, layers, d, width, mu, sigma, lr)
where not whole.truncate and cut.truncate
