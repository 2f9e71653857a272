-- Test error, test loss and kappa of the test sample at the end of every run, with its number of training points. $1 is the
-- sweep's id.
select
    members.point, features.n, features.seed, 1 - coalesce(test_accuracy[-1], final_test_accuracy) as error,
    coalesce(test_loss[-1], final_test_loss) as loss, coalesce(kappa_cka[-1], final_kappa_cka) as kappa
from members join features using (cell_id)
where members.sweep_id = $1 and features.status = 'ok' and coalesce(kappa_cka[-1], final_kappa_cka) is not null
order by members.point, features.n, features.seed
