-- asks: Of every seed, beside the run of Table 6.1's default from the same points and draws: is there no delay any
--     more, the test accuracy arriving less than three times as late as the training accuracy? And by what factor is
--     the delay shorter (its logarithm is the effect)?
-- setting: {removal}
-- measured: training accuracy at epoch {median(train_epoch):.0f}, test accuracy at {median(test_epoch):.0f}; a delay of
--     {median(delay):.1f} instead of {median(of_default):.1f}; final test accuracy {median(final_test_accuracy):.2f}
--     (medians)
--
-- slug removals-remove: figure-6-5
-- in most seeds: Each of the four ways to a richer start removes the delay of generalisation [Fig 6.5 (b-e), Table 6.1]
-- why: Smaller weights remove it in both nets, and smaller inputs in the larger one. A larger target and smaller
--     outputs lift the plateau from half of the test points to most of them; the rest is told late. In the small net
--     smaller inputs end untrained: its L2 is three times as large, and shrinks the first layer faster than such inputs
--     pull.
--
-- slug removals-shorten: figure-6-5
-- in the mean: Each of the four ways to a richer start shortens the delay of generalisation [Fig 6.5 (b-e), Table 6.1]
-- why: Under a larger target the plateau lies close to 95 % of the end, so that the time of arrival is that of the last
--     few percent: the gap is less than half that of the default, and the ratio of times can be larger.
select
    one.preset, one.seed, one.removal, one.train_epoch, one.test_epoch, one.delay, one.final_test_accuracy,
    base.delay as of_default,
    ln(base.delay / one.delay) as effect,
    case when one.generalization not in ('unresolved', 'untrained', 'diverged') then one.generalization = 'prompt' end
        as holds
from removals one join removals base using (preset, seed)
where base.removal = 'default' and one.removal <> 'default'
