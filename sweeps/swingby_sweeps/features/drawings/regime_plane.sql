-- Runs that ended: evenness, containment and kappa of the features on the test sample, and test accuracy, at their end, in
-- the order of their ids, which are hashes. $1 is the sweep's id, "" for every run of the data folder.
select
    cell_id, seed, data, net, coalesce(evenness[-1], final_evenness) as evenness,
    coalesce(containment[-1], final_containment) as containment, coalesce(kappa_cka[-1], final_kappa_cka) as kappa,
    coalesce(test_accuracy[-1], final_test_accuracy) as accuracy
from features
where
    status = 'ok' and coalesce(kappa_cka[-1], final_kappa_cka) is not null
    and ($1 = '' or cell_id in (select cell_id from members where sweep_id = $1))
order by cell_id
