-- Of every seed: does the training loss only fall, that is, never rise above its least value so far by more than 1 % of
-- L_ref (the detectors' floor)? Beside it: how often the OOD loss of the same runs does not only fall.
with
-- include: claims/shared/runs,
rises as (
    select
        *,
        list_max(list_transform(
            list_zip(train_loss, range(1, len(train_loss) + 1)), lambda pair: pair[1] - list_min(train_loss[:pair[2]])
        )) / l_ref as rise
    from runs
)
select
    convention, format('{}, {}, L = {}, d = {}, mu = {}', model, drive, layers, d, mu) as setting,
    count(*) as n,
    count(*) filter (where rise <= 0.01) as k,
    format(
        'training loss rises by {:.2g} L_ref at most; OOD loss non-monotone in {} of {} seeds, by {:.3f} L_ref at most',
        max(rise), count(*) filter (where non_monotone), count(*), max(bump_height)
    ) as measured
from rises
group by convention, model, drive, layers, d, mu
order by convention, model, drive, layers, d, mu
