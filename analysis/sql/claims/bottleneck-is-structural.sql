-- Of every seed with fewer columns in U than concepts (rank(U_0) < s): is the outcome `structural`, and the final
-- training loss at least half the sum of the s - r smallest a_p?
with
-- include: claims/shared/runs,
-- include: claims/shared/theory
select
    convention, format('symmetric, {}, s = {}, rank(U_0) = {}', drive, s, rank0) as setting,
    count(*) as n,
    count(*) filter (where outcome = 'structural' and final_train_loss >= least_training_loss * (1 - 1e-6)) as k,
    format(
        'final training loss {:.4f} times the bound (median), {:.4f} (least); final OOD loss {:.2f} L_ref (median)',
        median(final_train_loss / least_training_loss), min(final_train_loss / least_training_loss),
        median(final_ood_loss / l_ref)
    ) as measured
from with_theory
where model = 'symmetric' and rank0 < s
group by convention, drive, s, rank0
order by convention, drive, s, rank0
