-- claim: Minor entries never leave the initial phase
-- source: Assertion D.1, Lemma D.8
-- order: 6.5
-- sweeps: claim-bounds, figure-5
-- rule: share of seeds
-- why: Outside of the assumptions nothing is promised; they ask for initial weights so small that no usual run has
--     them.
-- after: The query was repaired: it took together runs of two sweeps whose points have the same number.
-- setting: {model}, {drive}, s = {s}; K = {K:g}, C = {C:g}, log P = {log_P:.3g}, kappa = {kappa:g}: assumptions
--     {assumed}
-- measured: log of the largest minor entry over P beta omega: {median(worst):.3g} (median seed), {max(worst):.3g}
--     (worst)
--
-- Of every seed: does every minor entry stay in the initial phase, |w_ij| <= P beta omega (Assertion D.1, Lemma D.8),
-- at every recorded step, beta omega being the largest |w_ij(0)|? Rows by the constants, and by whether all of App. D's
-- assumptions are met under them (judged here, from W(0), a_p and the step).
select
    preset, model, drive, s, K, C, log_P, kappa, assumed, seed, max(minor_beyond) as worst, worst <= 0 as holds
from under_constants
group by all
