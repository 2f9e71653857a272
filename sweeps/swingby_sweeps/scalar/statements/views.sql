-- preset thesis: the thesis's conventions
-- title of claims: What the thesis claims of scalar nets, and what the seeds say of it
-- lead of claims:  Each claim is asked in SQL of every seed; its kind says what has to be true of the seeds. Formulas are
--                  computed by detectors beside what was measured.
-- title of findings: What we found: phase diagrams of lazy, rich and late learning in scalar nets
-- lead of findings:  Where is a wide scalar net lazy or rich, how long may a step of descent be, and when does a diagonal
--                    net generalize?
-- note on findings: Wordings and predicates were written on a coarse grid and on seeds from 1000 on, before the
--                   diagrams were run.
--
-- Views that statements share. `runs`, `grid` and `intervals` are provided.

-- Runs of a diagram of the wide net, with the regime that S/Sigma_0 at its expected Sigma_0, sd^2 p^(1-z), would have at
-- S_0 = 0.
create view wide_runs as
select *, abs(ln(predicted_kernel_ratio)) as change, regime = 'lazy' as lazy
from runs
where predicted_kernel_ratio > 0;
