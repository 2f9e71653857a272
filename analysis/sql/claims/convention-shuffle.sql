-- Of every seed: is the run the same whether the points are shuffled once or anew in each epoch? A pair shares its
-- seed, so weights and points agree as far as the convention allows. It counts if the pair agrees on whether the OOD
-- loss is non-monotone and on the outcome, and their largest rises of the OOD loss differ by at most 5 % of L_ref.
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
),
pairs as (
    select
        one.convention, one.layers, one.d, one.width, one.seed, one.shuffle as first, two.shuffle as second,
        one.non_monotone as one_rises, two.non_monotone as two_rises, one.outcome as one_outcome,
        two.outcome as two_outcome,
        one.bump_height as one_height, two.bump_height as two_height,
        one.final_ood_loss / one.l_ref as one_final, two.final_ood_loss / two.l_ref as two_final
    from runs one join runs two
    using (convention, seed, layers, d, width, lr, mu, reduction, bias, zero_cluster, sigma_is)
    where one.shuffle > two.shuffle -- each pair once
)
select
    convention, format('L = {}, d = {}, width {}; {} against {}', layers, d, width, first, second) as setting,
    count(*) as n,
    count(*) filter (
        where one_rises = two_rises and one_outcome = two_outcome and abs(one_height - two_height) <= 0.05
    ) as k,
    format(
        'non-monotone in {} against {} seeds, final OOD loss {:.3f} against {:.3f} L_ref (medians)',
        count(*) filter (where one_rises), count(*) filter (where two_rises), median(one_final), median(two_final)
    ) as measured
from pairs
group by convention, layers, d, width, first, second
order by convention, layers, d, width
