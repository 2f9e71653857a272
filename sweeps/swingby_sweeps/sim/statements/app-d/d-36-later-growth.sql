-- claim: After the initial phase a major entry grows at least as fast as its lower bound
-- source: D.36, Lemma D.4
-- order: 6.3
-- sweeps: claim-bounds, figure-5
-- rule: share of seeds
-- why: Outside of the assumptions nothing is promised; they ask for initial weights so small that no usual run has
--     them.
-- after: The query was repaired: it took together runs of two sweeps whose points have the same number.
-- setting: {model}, {drive}, s = {s}; K = {K:g}, C = {C:g}, log P = {log_P:.3g}, kappa = {kappa:g}: assumptions
--     {assumed}
-- measured: log of the bound over w_ii: {median(worst):.2g} at most (median seed), {max(worst):.2g} (worst)
--
-- Of every seed: once w_ii has left the initial phase (w_ii >= P beta omega) and while it is below lambda = 0.85, does
-- w_ii >= w_ii(t_0) exp(2 eta (t - t_0) a_i (1 - lambda) / kappa) (D.36) hold at every recorded step (rounding of 1e-6
-- in the log allowed)? Seeds with no record in that stretch tell nothing. Rows by the constants, and by whether all of
-- App. D's assumptions are met under them (judged here, from W(0), a_p and the step).
select
    preset, model, drive, s, K, C, log_P, kappa, assumed, seed, bool_and(d_36_kept) as holds, max(d_36_beyond) as worst
from under_constants
where d_36_kept is not null
group by all
