-- always: With fewer columns in U than concepts every run fails for good, at the least loss that its rank allows [said
--     beside E.3]
-- asks: Of every seed with fewer columns in U than concepts (rank(U_0) < s): does the run end at the least training
--     loss that its rank allows, half the sum of the s - r smallest a_p (not below it, and at most 1 % above), with an
--     OOD loss of more than 1 % of L_ref? Repaired after results were seen: it asked for the outcome `structural`,
--     which is the rank itself, and for a training loss not below the bound, which is no more than arithmetic.
-- sweeps: claim-rank
-- after: The query was repaired: what it asked for follows from the rank alone. Now the run has to get to that loss,
--     and to stay away from the answer.
-- setting: symmetric, {drive}, s = {s}, rank(U_0) = {rank0}
-- measured: final training loss {median(to_bound):.4f} times the bound (median), {min(to_bound):.4f} to
--     {max(to_bound):.4f} (all seeds); final OOD loss {median(final_ood_loss / l_ref):.3f} L_ref (median),
--     {min(final_ood_loss / l_ref):.3f} (least)
select
    *, final_train_loss / least_training_loss as to_bound,
    coalesce(to_bound between 1 - 1e-6 and 1.01 and final_ood_loss > 0.01 * l_ref, false) as holds
from runs
where model = 'symmetric' and rank0 < s
