-- Accuracies and kappa over the seeds of every point at each recorded step: median, and the 10 % and 90 % quantiles. A run
-- that diverged counts as long as it was recorded. $1 is the sweep's id.
with records as (
    select
        members.point, unnest(step) as step, unnest(train_accuracy) as train_accuracy,
        unnest(test_accuracy) as test_accuracy, unnest(kappa) as kappa
    from members join mlp_regimes using (cell_id)
    where members.sweep_id = $1
),
lines as (
    unpivot records on train_accuracy, test_accuracy, kappa into name line value value
)
select
    point, line, step, median(value) as median, quantile_cont(value, 0.1) as low, quantile_cont(value, 0.9) as high
from lines
group by point, line, step
order by point, line, step
