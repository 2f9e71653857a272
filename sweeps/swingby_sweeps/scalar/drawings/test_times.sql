-- Runs of the diagonal net that were predicted to generalize late: when they did, and when ln(alpha^2/C*)/(2 decay) says
-- so. $1 is the sweep's id.
select
    members.point, sparse_diagonal.seed, sparse_diagonal.alpha, sparse_diagonal.decay, sparse_diagonal.test_time,
    found.predicted_test_time
from members
join sparse_diagonal using (cell_id)
join outcomes_generalization as found
    on found.cell_id = sparse_diagonal.cell_id and found.of_shard = sparse_diagonal.shard
where members.sweep_id = $1 and sparse_diagonal.status = 'ok' and found.predicted_test_time is not null
order by members.point, sparse_diagonal.seed
