-- asks: Of every seed: in what share of its runs is there transient memorization, where the start meets App. D.4 and
--     the signals D.5 (ascending, with the most lenient constants), and where not?
-- found: Under App. D's assumptions on the start and on the signals (D.4, D.5; {any_value(region):.0%} of the runs)
--     there is more transient memorization than elsewhere: {assumed:.1%} of the runs against {other:.1%}.
-- contrary: App. D's assumptions on the start and on the signals (D.4, D.5; {any_value(region):.0%} of the runs) leave
--     little of the phenomenon: under them {assumed:.1%} of the runs show transient memorization, elsewhere
--     {other:.1%}.
-- cannot be told: Whether there is more or less transient memorization under App. D's assumptions on the start and on
--     the signals (D.4, D.5; {any_value(region):.0%} of the runs) cannot be told: {assumed:.1%} of the runs against
--     {other:.1%}.
--
-- slug ratio-gain-assumed: diagram-ratio-gain
--
-- slug ratio-start-assumed: diagram-ratio-start
-- fresh fresh-ratio-start: Where the proofs apply there is little to explain
with judged as (select *, d_4_small_start and d_5_gap_ascending as assumed from placed)
select
    seed, (select avg(assumed::integer) from judged) as region,
    avg(swings::integer) filter (where assumed) as assumed,
    avg(swings::integer) filter (where not assumed) as other,
    avg(swings::integer) filter (where assumed) - avg(swings::integer) filter (where not assumed) as effect
from judged
group by seed
