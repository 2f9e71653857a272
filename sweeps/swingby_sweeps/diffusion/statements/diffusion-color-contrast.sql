-- in the mean: Diffusion: at one contrast of the sizes, a larger one of the colors makes color come first more often
--     [5, G.1]
-- asks: At one contrast of the sizes, does a larger contrast of the colors make color come first more often? Of all
--     pairs of runs of a seed with the same sizes whose orders differ (color first, tie, size first), its effect is the
--     share in which color is further ahead where the colors differ more, less the share in which it is not. Runs that
--     learn neither concept make no pair; seeds without a pair that differs tell nothing. Rows by judge. Repaired after
--     results were seen: a run without circles at its end was judged by the last evaluation that has them.
-- sweeps: learning-order
-- after: The query was repaired, in what it takes from the detector: where no circle is found in half of the images at
--     the end, the last evaluation that has them was taken for the end of the run; now no concept is right there. Later
--     its kind was named when results had been seen: "more often" is a mean. A seed counted before where nine in ten
--     pairs went that way, and is now an effect.
-- setting: {judge} judge; {model}
-- measured: pairs whose order differs: {sum(differing)::bigint}, of which it goes that way in {sum(agreeing)::bigint};
--     per seed {min(differing)} to {max(differing)} pairs
select *, case when differing > 0 then 2 * agreeing / differing - 1 end as effect
from larger_contrast
where grows = 'color'
