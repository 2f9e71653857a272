-- in most seeds: From large weights a net fits its training points long before it generalises [Fig 6.5 (a), 6.4.3]
-- asks: Of every seed of Table 6.1's default: does the test accuracy arrive at least three times as late as the
--     training accuracy, and gain at least 0.2 after it?
-- sweeps: figure-6-5
-- setting: the default of Table 6.1
-- measured: training accuracy at epoch {median(train_epoch):.0f}, test accuracy at {median(test_epoch):.0f} (medians);
--     a delay of {median(delay):.1f}; the test accuracy gains {median(accuracy_gap):.2f} in between
select *, grokked as holds from removals where removal = 'default'
