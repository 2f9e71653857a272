-- Of every seed with fewer columns in U than concepts (rank(U_0) < s): does the run end at the least training loss that
-- its rank allows, half the sum of the s - r smallest a_p (not below it, and at most 1 % above), with an OOD loss of
-- more than 1 % of L_ref? Repaired after results were seen: it asked for the outcome `structural`, which is the rank
-- itself, and for a training loss not below the bound, which is no more than arithmetic.
with
-- include: claims/shared/runs,
-- include: claims/shared/theory
select
    convention, format('symmetric, {}, s = {}, rank(U_0) = {}', drive, s, rank0) as setting,
    count(*) as n,
    count(*) filter (
        where final_train_loss / least_training_loss between 1 - 1e-6 and 1.01 and final_ood_loss > 0.01 * l_ref
    ) as k,
    format(
        'final training loss {:.4f} times the bound (median), {:.4f} to {:.4f} (all seeds); final OOD loss {:.3f} '
        || 'L_ref (median), {:.3f} (least)',
        median(final_train_loss / least_training_loss), min(final_train_loss / least_training_loss),
        max(final_train_loss / least_training_loss), median(final_ood_loss / l_ref), min(final_ood_loss / l_ref)
    ) as measured
from with_theory
where model = 'symmetric' and rank0 < s
group by convention, drive, s, rank0
order by convention, drive, s, rank0
