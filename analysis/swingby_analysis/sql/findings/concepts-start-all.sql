-- Of every seed: in what share of its runs does the loss descend as often as there are concepts or more, for each number
-- of concepts? Is that rarer with more concepts?
with
-- include: findings/shared/runs,
by_seed as (
    select
        seed, avg((descents_fine >= s)::integer) filter (where s = 2) as two,
        avg((descents_fine >= s)::integer) filter (where s = 3) as three,
        avg((descents_fine >= s)::integer) filter (where s = 4) as four,
        avg((descents_fine >= s)::integer) filter (where s = 5) as five,
        avg((descents_fine >= s)::integer) filter (where s = 6) as six
    from runs group by seed
)
select
    list(two order by seed) as two, list(three order by seed) as three, list(four order by seed) as four,
    list(five order by seed) as five, list(six order by seed) as six,
    list(two - three order by seed) as effect, list(three - four order by seed) as effect_2,
    list(four - five order by seed) as effect_3
from by_seed
