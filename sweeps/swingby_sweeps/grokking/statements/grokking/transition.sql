-- asks: Of every seed of Table 6.1's default that groks: is kappa at least 0.1 when the training accuracy has arrived,
--     and below 0.1 at the end? And by how much does it fall in between?
-- setting: the default of Table 6.1
-- measured: kappa {median(kappa_at_train_epoch):.2f} when the training points are fitted, {median(final_kappa):.2f} at
--     the end (medians); effective dimension {median(final_d_eff):.1f} at the end
--
-- slug transition-to-minimum: figure-6-5
-- in most seeds: Grokking is a transition into the minimum feature regime [6.4.2, Fig 6.4 (there of a transformer)]
-- why: kappa falls while the net generalises, and ends above 0.1: fewer features than before, but not as few as there
--     are classes, equally strong.
--
-- slug transition-toward-minimum: figure-6-5
-- in the mean: Features come nearer to the minimum feature regime while a net groks [6.4.2, Fig 6.4 (there of a
--     transformer)]
select
    *, kappa_at_train_epoch - final_kappa as effect,
    case when grokked then kappa_at_train_epoch >= 0.1 and final_kappa < 0.1 end as holds
from removals
where removal = 'default' and grokked
