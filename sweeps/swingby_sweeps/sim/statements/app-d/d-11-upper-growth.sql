-- claim: Every entry grows no faster than its upper bound
-- source: D.11, Lemma D.1
-- order: 6.1
-- sweeps: claim-bounds, figure-5
-- rule: share of seeds
-- why: Outside of the assumptions nothing is promised; they ask for initial weights so small that no usual run has
--     them.
-- after: The query was repaired: it took together runs of two sweeps whose points have the same number.
-- setting: {model}, {drive}, s = {s}; K = {K:g}, C = {C:g}, log P = {log_P:.3g}, kappa = {kappa:g}: assumptions
--     {assumed}
-- measured: log of |w_ij| over its bound: {median(worst):.2g} at most (median seed), {max(worst):.2g} (worst)
--
-- Of every seed: does |w_ij(t)| <= |w_ij(0)| exp(eta t (a_i + a_j) kappa) (D.11) hold for every entry at every recorded
-- step (rounding of 1e-6 in the log allowed)? Rows by the constants, and by whether all of App. D's assumptions are met
-- under them (judged here, from W(0), a_p and the step).
select
    preset, model, drive, s, K, C, log_P, kappa, assumed, seed, bool_and(d_11_kept) as holds, max(d_11_beyond) as worst
from under_constants
where d_11_kept is not null
group by all
