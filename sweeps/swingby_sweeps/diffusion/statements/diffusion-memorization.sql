-- in most seeds: Diffusion: where it rises, that is transient memorization [Fig 6b, 5]
-- asks: Of every seed at a contrast in which the concept-space MSE falls, rises and falls: is the rise transient
--     memorization? That is: over a rise the held-out class comes nearer to the corner of a trained class, by more than
--     the detector's threshold, while the diffusion term of the training loss does not rise beyond its own. Runs
--     without such a rise, and those whose loss is not known, tell nothing. Rows by judge and contrast. Repaired after
--     results were seen: the detector looked at the whole training loss before, took one that is not known for one that
--     does not rise, and any step nearer, however small, for an approach.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: The query was repaired: the detector looked whether the whole training loss rises, which falls by thousands of
--     bits with the schedule alone, so that the condition could not fail; it looks at the diffusion term since. Four
--     runs had been seen by then. Later, with all of them seen, it also asks the approach to be beyond its threshold,
--     and says nothing of runs whose loss is not known.
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('rise: {:.3g} (median), {:.3g} to {:.3g}', median(value), min(value), max(value)),
--     'nothing is told of any run')}
select
    *, case when non_monotone then mse_bump end as value,
    case when non_monotone then transient_memorization end as holds
from by_judge
