-- in most seeds: With enough training the output comes back to the test point [Fig 2c, 3.3]
-- asks: Of every seed of the low-dimensional net: does the run end with an OOD loss of at most 1 % of L_ref (outcome:
--     generalized)?
-- sweeps: figure-2c
-- setting: L = {layers}, d = {d}, width {width}, lr {lr}, mu = {mu}
-- measured: final OOD loss {median(final_ood_loss / l_ref):.4f} L_ref (median), {max(final_ood_loss / l_ref):.3f}
--     (largest); generalized {100 * avg((outcome = 'generalized')::integer):.0f} %, plateau {100 * avg((outcome =
--     'plateau')::integer):.0f} %, diverged {100 * avg((outcome = 'diverged')::integer):.0f} %
select *, coalesce(outcome = 'generalized', false) as holds from runs where d = s
