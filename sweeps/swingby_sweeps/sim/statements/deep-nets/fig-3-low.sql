-- exists: In low dimension the OOD loss of multi-layer nets falls, rises and falls again [Fig 3]
-- asks: Of every seed: does the OOD loss of the deep net in low dimension (d = s) fall, rise and fall again, by more
--     than the detector's threshold (two descents or more), and is that transient memorization in the run or in its
--     full-batch twin, which has the same data, start and step, and no sampling noise?
-- sweeps: figure-3
-- after: Its kind was named when results had been seen: the paper tracks the loss, and shows a curve that does it.
--     Later a rise of the loss alone was no longer enough, which may be the overshoot of a step too long.
-- why: The detector asks for a rise of the loss; in most settings an output retreats in more seeds than that. Probably
--     the signs at the start decide which seeds swing by.
-- setting: L = {layers}, d = {d}, width {width}, lr {lr}, mu = {mu}
-- measured: rise {median(bump_height):.3f} L_ref (median), {max(bump_height):.3f} (largest); transient memorization
--     {100 * avg(coalesce(transient_memorization, false)::integer):.0f} %, of full-batch twins {100 *
--     avg(coalesce(twin_gd_transient_memorization, false)::integer):.0f} %; retreat {100 * avg(coalesce(retreat,
--     false)::integer):.0f} %; a rise of the loss alone {100 * avg(coalesce(non_monotone, false)::integer):.0f} %
select
    *,
    coalesce(non_monotone, false) and (
        coalesce(transient_memorization, false) or coalesce(twin_gd_transient_memorization, false)
    ) as holds
from runs
where d = s
