-- slug features-noise-of-a-tenth: diagram-features-noise-points
-- asks: Of every seed, in the mean over 710 and 1,000 points: what is kappa of the test sample at the end with clean
--     labels, and with a noise of 0.1?
-- found: With 710 points and more, a tenth of random labels makes features looser: [numbers]
-- contrary: With 710 points and more, a tenth of random labels makes features tighter: [numbers]
-- cannot be told: What a tenth of random labels does to features with 710 points and more cannot be told: [numbers]
-- numbers: kappa {tight:.3f} with clean labels, {loose:.3f} with noise of a tenth.
-- after: Added after the diagram had been looked at; the README said that noise from a tenth on leads out of the
--     minimum feature regime.
select
    seed, avg(final_kappa_cka) filter (where label_noise < 0.01) as tight,
    avg(final_kappa_cka) filter (where label_noise between 0.09 and 0.11) as loose, loose - tight as effect
from runs
where n >= 700
group by seed
