-- preset thesis: sigma a standard deviation
-- title of claims: What the thesis says of linear models, and what closed forms on samples say of it
-- lead of claims:  Each claim of [T] chapter 1 and appendix A is asked in SQL of regressions on fixed features, solved in
--                  closed form on drawn samples. The theory of learnability is for the mean over samples.
-- title of findings: What we found: when overfitting is benign, and where the theory of learnability is off
-- lead of findings:  What does a fit to noisy points do to the function, when is the noise fitted, which ridge is best, and
--                    for which features is theory exact?
-- note on findings: The wordings and predicates were written before the diagrams were computed, but for
--                    that of a signal that is never learned, which explains why another does not hold.
-- order:
--     fig-1-2, fig-1-2-numbers, eq-1-35, eq-1-35-any-features, kernels, sum-rule, printed-ratio,
--     eq-1-36-printed, eq-1-36-small-tail,
--     fig-1-3-printed, fig-1-3, fig-1-5, captions, fig-1-4, isotropic, isotropic-waves, errors, train-errors,
--     kernel-errors, kernel-errors-unseen,
--     eq-1-26, signal-time, noise-time, window-printed, window, algorithm-1-printed, algorithm-1, a-9-printed,
--     least-norm,
--     theory-tells-the-fit, tail-is-not-what-harms,
--     gap,
--     kernel,
--     ridge,
--     two-times, signal-is-never-learned

-- Listed modes of every run, a row each, with measured and predicted learnability.
create view listed as
select
    * exclude (listed_modes, learnability, sample_learnability, target_ratio),
    unnest(listed_modes) as k, unnest(learnability) as predicted, unnest(sample_learnability) as measured,
    unnest(target_ratio) as ratio
from runs;
