-- in most seeds: In high dimension the OOD loss of multi-layer nets only slows down: it is monotone [Fig 3]
-- asks: Of every seed: is the OOD loss of the deep net in high dimension (d > s) monotone, as the detector sees it (no
--     second descent)?
-- sweeps: figure-3
-- setting: L = {layers}, d = {d}, width {width}, lr {lr}, mu = {mu}
-- measured: rise {median(bump_height):.3f} L_ref (median), {max(bump_height):.3f} (largest); transient memorization
--     {100 * avg(coalesce(transient_memorization, false)::integer):.0f} %, retreat {100 * avg(coalesce(retreat,
--     false)::integer):.0f} %
select *, coalesce(not non_monotone, false) as holds from runs where d > s
