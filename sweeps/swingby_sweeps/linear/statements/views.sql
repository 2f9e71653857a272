-- preset thesis: sigma a standard deviation
-- title of claims: What the thesis says of linear models, and what closed forms on samples say of it
-- lead of claims:  Each claim of [T] chapter 1 and appendix A is asked in SQL of regressions on fixed features, solved in
--                  closed form on drawn samples. The theory of learnability is for the mean over samples.
-- title of findings: What we found: when overfitting is benign, and where the theory of learnability is off
-- lead of findings:  What does a fit to noisy points do to the function, when is the noise fitted, which ridge is best, and
--                    for which features is theory exact?
-- note on findings: The wordings and predicates were written before the diagrams were computed, but for
--                    that of a signal that is never learned, which explains why another does not hold.
--
-- Views that statements share. `runs`, `grid` and `intervals` are provided.

-- Listed modes of every run, a row each, with measured and predicted learnability.
create view listed as
select
    * exclude (listed_modes, learnability, sample_learnability, target_ratio),
    unnest(listed_modes) as k, unnest(learnability) as predicted, unnest(sample_learnability) as measured,
    unnest(target_ratio) as ratio
from runs;
