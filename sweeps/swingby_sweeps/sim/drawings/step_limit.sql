-- Runs of one layer without bias beside the closed form of Theorem 4.1 on the same moments, from the same weights and
-- points: a row a run, with the length of its step, lr a_max, and its largest distance from it over ||x^||, over the
-- records. $1 is the sweep's id.
with cells as (
    select members.point, sim.*
    from members join sim using (cell_id)
    where members.sweep_id = $1 and sim.status = 'ok' and sim.model = 'one_layer' and not sim.bias
)
select
    run.point, run.seed, run.drive, run.time_per_step * list_max(run.a) as step,
    list_max(list_transform(
        list_zip(run.output, theory.output),
        lambda pair: sqrt(list_sum(list_transform(list_zip(pair[1], pair[2]), lambda f: (f[1] - f[2]) ** 2)))
    )) / sqrt(2 * run.l_ref) as error
from cells run join cells theory using (seed, d, s, n, mu, sigma, sigma_is, zero_cluster, truncate, reduction, lr)
where run.drive <> 'closed_form' and theory.drive = 'closed_form' and theory.moments = 'sample' and run.step = theory.step
order by run.point, run.seed
