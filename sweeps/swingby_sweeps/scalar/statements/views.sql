-- preset thesis: the thesis's conventions
-- title of claims: What the thesis claims of scalar nets, and what the seeds say of it
-- lead of claims:  Each claim is asked in SQL of every seed; its kind says what has to be true of the seeds. Formulas are
--                  computed by detectors beside what was measured.
-- title of findings: What we found: phase diagrams of lazy, rich and late learning in scalar nets
-- lead of findings:  Where is a wide scalar net lazy or rich, how long may a step of descent be, and when does a diagonal
--                    net generalize?
-- note on findings: Wordings and predicates were written with a coarse grid and seeds from 1000 on at hand, before the
--                   results of the diagrams were looked at. The short headings of two findings were reworded
--                   afterwards, and the finding on aligned starts, which follows from the law of the kernel, was added.
-- order:
--     theorem-1, theorem-1-printed, theorem-1-whole-square, theorem-1-descent, gamma-bound,
--     downscaling, lazier-at-smaller-target, alpha-below-one, ntk, four-ways-out,
--     test-time, imbalance, no-decay, smaller-start,
--     delay-law, decay-window,
--     recovery-line,
--     aligned-start,
--     width-acts-both-ways, chance-alignment,
--     fate-of-descent, catapult-band

-- Runs of the wide net with the change of the log of the kernel, and whether they are lazy.
create view wide_runs as
select *, abs(ln(kernel_ratio)) as change, regime = 'lazy' as lazy
from runs
where kernel_ratio > 0;
