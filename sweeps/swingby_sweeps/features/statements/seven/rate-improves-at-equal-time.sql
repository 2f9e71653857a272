-- in the mean: A larger learning rate makes a net better by itself, not only by more training [Fig 7.2 (a), 7.3:
--     "finite effects of large learning rate", a speculation there]
-- asks: Of every seed without weight decay: how much smaller is the test error than at learning rate 0.01, after the
--     same learning rate x steps?
-- sweeps: claim-features-equal-time
-- setting: learning rate {lr} against 0.01, at equal learning rate x steps
-- measured: test error {avg(error):.4f} instead of {avg(other_error):.4f}, training loss {avg(train):.2g} instead of
--     {avg(other_train):.2g} (means)
select *, other_error - error as effect from beside_slow
