-- preset fast:    width 100, 16 bits, batches of 200
-- preset figures: the code behind Fig 5.1
-- preset text:    the text of C.3
-- title of claims: What [T] claims of emergence in sparse parity, and what the seeds say of it
-- lead of claims:  Nets of five skills beside the extended multilinear model, whose one constant for each bottleneck is
--                  from nets of a single skill on other seeds. All under the preset fast: a net of a hundred units that
--                  trains in a second, not the source's thousand units and batches of 4000.
-- title of findings: What we found: emergence of parities over width, samples, bits and frequencies
-- lead of findings:  What one more resource buys, and how far skills are decoupled.
-- note on findings: The wordings and predicates were written before the seeds shown here were looked at.
--                   The grids that sentences are asked of are coarse and whole; refined ones beside them draw
--                   boundaries, and no sentence averages over those.
-- order:
--     time-order, time-predicted, time-saturates-slowly, calibrated-b2, data-predicted, data-law, data-abrupt,
--     width-order, width-predicted, calibrated-n-c, order-violated,
--     later-skills-wait, equal-frequencies-couple,
--     wide-nets-decouple,
--     growth-constant,
--     violations-and-bits,
--     width-for-samples

-- Of every run on a training set and each of its skills: its own samples, its strength, and both laws. Runs whose
-- training set was not fitted are left out.
create view by_samples as
select
    preset, seed, skills, samples, unnest(range(1, skills + 1)) as skill, unnest(counts) as d,
    unnest(final_strength) as strength, unnest(predicted_printed) as printed, unnest(predicted_mean) as mean_law
from runs
where bottleneck = 'data' and outcome not in ('unfitted', 'diverged');

-- Of every narrow net and each of its skills: its strength, that of the next rarer one, and (5.9).
create view by_width as
select
    preset, seed, width, unnest(range(1, skills + 1)) as skill, unnest(final_strength) as strength,
    unnest(list_append(final_strength[2:], null)) as rarer, unnest(predicted_width) as predicted
from runs
where bottleneck = 'width' and outcome <> 'diverged';
