-- claim: Diffusion: at one contrast of the colors, a larger one of the sizes makes size come first more often
-- source: 5, G.1
-- order: 9.5
-- sweeps: learning-order
-- rule: share of seeds
-- after: The query was repaired, in what it takes from the detector: where no circle is found in half of the images at
--     the end, the last evaluation that has them was taken for the end of the run; now no concept is right there.
-- hours: yes
-- setting: {judge} judge; {model}
-- measured: pairs whose order differs: {sum(differing)::bigint}, of which it goes that way in {sum(agreeing)::bigint};
--     per seed {min(differing)} to {max(differing)} pairs
--
-- Of every seed: at one contrast of the colors, does a larger contrast of the sizes make size come first more often? Of
-- all pairs of runs of the seed with the same colors whose orders differ (size first, tie, color first), nine in ten
-- have to have size further ahead where the sizes differ more. Runs that learn neither concept make no pair; seeds
-- without a pair that differs tell nothing. Rows by judge. Repaired after results were seen: a run without circles at
-- its end was judged by the last evaluation that has them.
select *, case when differing > 0 then agreeing >= 0.9 * differing end as holds
from larger_contrast
where grows = 'size'
