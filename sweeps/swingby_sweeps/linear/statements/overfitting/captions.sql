-- always: The models of Figs 1.3 and 1.5 sum over ten features [captions of Figs 1.3 and 1.5, as printed]
-- asks: Of every sample: do ten features fit its hundred noisy points?
-- sweeps: claim-linear-caption
-- setting: mode {mode}
-- measured: {100 * min(2 * final_train_loss / label_power):.0f} to {100 * max(2 * final_train_loss / label_power):.0f}
--     % of mean y^2 are left on the points
-- why: Ten features cannot fit a hundred noisy points, which the figures show fitted. The text's p = 2000 can.
select *, fit <> 'underfit' as holds from runs
