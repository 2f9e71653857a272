-- Test error and kappa of the test sample at the end of every run that has learned its training points (90 % of them), with
-- what makes its architecture. $1 is the sweep's id, $2 a share of the training points.
select
    members.point, features.seed, data,
    concat(net, ', ', layers, ' layers of ', width, ', ', activation, if(batch_norm, ', batch norm', '')) as architecture,
    coalesce(kappa_cka[-1], final_kappa_cka) as kappa,
    1 - coalesce(test_accuracy[-1], final_test_accuracy) as error
from members join features using (cell_id)
where
    members.sweep_id = $1 and features.status = 'ok' and coalesce(kappa_cka[-1], final_kappa_cka) is not null
    and coalesce(train_accuracy[-1], final_train_accuracy) >= $2
order by members.point, features.seed
