-- Of every seed: in what share of its runs is there transient memorization, where the start meets App. D.4 and the
-- signals D.5 (ascending, with the most lenient constants), and where not?
with
-- include: findings/shared/runs,
placed as (
    select runs.*, theory.d_4_small_start and theory.d_5_gap_ascending as assumed
    from runs join outcomes_theory theory using (cell_id)
),
by_seed as (
    select
        seed, avg(swings::integer) filter (where assumed) as assumed,
        avg(swings::integer) filter (where not assumed) as other
    from placed group by seed
)
select
    (select avg(assumed::integer) from placed) as region,
    list(assumed order by seed) as assumed, list(other order by seed) as other,
    list(assumed - other order by seed) as effect
from by_seed
