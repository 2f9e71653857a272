-- always: The training loss only falls, also where the OOD loss does not [Fig 17, F.4]
-- asks: Of every seed: does the training loss only fall, that is, never rise above its least value so far by more than
--     1 % of L_ref (the detectors' floor)? Also measured: how often the OOD loss of the same runs does not only fall.
-- sweeps: figure-17, figure-14
-- after: Its kind was named when results had been seen: the paper says that the training loss must fall.
-- why: At the text's learning rate and the stronger signals a step is probably too long.
-- setting: {model}, {drive}, L = {layers}, d = {d}, mu = {mu}
-- measured: training loss rises by {max(rise):.2g} L_ref at most; OOD loss non-monotone in {count(*) filter (where
--     non_monotone)} of {count(*)} seeds, by {max(bump_height):.3f} L_ref at most
select
    *,
    list_max(list_transform(
        list_zip(train_loss, range(1, len(train_loss) + 1)), lambda pair: pair[1] - list_min(train_loss[:pair[2]])
    )) / l_ref as rise,
    coalesce(rise <= 0.01, false) as holds
from runs
