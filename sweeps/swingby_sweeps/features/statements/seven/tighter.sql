-- slug tighter-is-better: claim-features-tighter
-- in the mean: Nets with tighter features generalise better [7.5: "all direct toward both MF regime and better
--     performance"]
-- asks: Of every seed, over the runs that learn nine tenths of their labels: what is Spearman's rank correlation of
--     kappa of the test sample and test error, over all architectures and within each?
-- setting: {nets}
-- measured: Spearman's correlation of kappa and test error {avg(effect):.2f} (mean over the seeds)
-- after: Equal errors had the least of their ranks; they share the mean of them.
with learned as (
    select
        preset, seed, unnest(['across architectures', format('{} layers{}', layers, if(batch_norm, ', batch norm', ''))])
            as nets,
        final_kappa_cka as kappa, 1 - final_test_accuracy as error
    from runs
    where final_train_accuracy >= 0.9 and regime <> 'diverged'
),
ranked as (  -- equal numbers share the mean of their ranks
    select
        *, rank() over (partition by preset, seed, nets order by kappa)
        + (count(*) over (partition by preset, seed, nets, kappa) - 1) / 2 as kappa_rank,
        rank() over (partition by preset, seed, nets order by error)
        + (count(*) over (partition by preset, seed, nets, error) - 1) / 2 as error_rank
    from learned
)
select preset, seed, nets, corr(kappa_rank, error_rank) as effect
from ranked
group by preset, seed, nets
having count(*) >= 4
