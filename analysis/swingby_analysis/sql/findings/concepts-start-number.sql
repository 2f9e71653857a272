-- Of every seed: how often does the loss descend, in the mean of its runs, with two and with six concepts?
with
-- include: findings/shared/runs,
by_seed as (
    select
        seed, avg(descents_fine) filter (where s = 2) as two, avg(descents_fine) filter (where s = 6) as six
    from runs group by seed
)
select
    list(two order by seed) as two, list(six order by seed) as six, list(six - two order by seed) as effect
from by_seed
