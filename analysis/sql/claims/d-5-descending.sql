-- Of every seed: can the second part of Assumption D.5, a_i - 3 a_j >= alpha/C for i > j, hold with the a_p in
-- descending order, as the main text has them? With C of the detector `theory`.
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard), theory.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    left join outcomes_theory theory on theory.cell_id = sim.cell_id and theory.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
)
select
    convention, format('s = {}, mu = {}', s, mu) as setting,
    count(distinct seed) as n,
    count(distinct seed) filter (where d_5_gap_descending) as k,
    format(
        'ascending it holds in {} seeds; all of App. D''s assumptions in {}',
        count(distinct seed) filter (where d_5_gap_ascending), count(distinct seed) filter (where all_assumptions)
    ) as measured
from runs
where model = 'symmetric' and d = s and d_5_gap_descending is not null
group by convention, s, mu
order by convention, s, mu
