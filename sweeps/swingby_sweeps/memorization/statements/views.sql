-- preset small: two blocks of 64 units, 12,000 to 20,000 steps of Adam
-- title of claims: What the literature says of memorization in diffusion models, and what nets on a mixture say of it
-- lead of claims:  Denoisers of two Gaussians in eight dimensions, on seeds that no result was seen of. [B] is Bonnaire
--                  et al. 2025 (arXiv 2505.17638), [F] Favero et al. 2025 (2505.16959), [G] Gu et al. 2025 (2310.02664),
--                  [M] is arXiv 2606.14390. An exponent is a slope over training points, seed by seed, and its claim is
--                  one of a mean: that it is the given one, within 0.2.
-- title of findings: What we found: what moves the two clocks of a diffusion model
-- lead of findings:  Learning rate, batch size, weight decay, running means, conditions and rare components, at equal
--                    steps.
-- note on findings: The wordings and predicates were written before the seeds shown here were looked at.
-- order:
--     time-to-copies, time-to-good, clocks-cross, width-shortens, conditions-raise, rare-first,
--     rate-shortens, clock-is-the-step, decay-prevents, decay-costs, average-delays, average-improves,
--     random-conditions-shorten, rarer-leads, wider-is-nearer

-- Of every run that memorizes: how many more of its samples are copies on the side of the rare component than on the
-- other, at tau_mem. Runs without a sample on one of the sides are left out.
create view leads as
select *, memorized_rare[place] as of_rare, memorized_frequent[place] as of_frequent, of_rare - of_frequent as lead
from (select *, list_position(step, tau_mem::bigint) as place from runs where tau_mem is not null)
where isfinite(lead);
