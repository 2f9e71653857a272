-- sweeps: diagram-concepts-start
-- asks: Of every seed: in what share of its runs does the loss descend as often as there are concepts or more, for each
--     number of concepts? Is that rarer with more concepts?
-- fresh fresh-concepts-start: A descent for each concept is the exception from three concepts on
-- found: As many descents as concepts get rarer with more concepts: [numbers]
-- not found: As many descents as concepts do not get rarer step by step with more concepts: [numbers]
-- cannot be told: Whether as many descents as concepts get rarer with each concept up to five cannot be told: [numbers]
-- numbers: {two:.0%} of the runs with two, {three:.0%} with three, {four:.0%} with four, {five:.1%} with five,
--     {six:.1%} with six.
select
    seed, avg((descents_fine >= s)::integer) filter (where s = 2) as two,
    avg((descents_fine >= s)::integer) filter (where s = 3) as three,
    avg((descents_fine >= s)::integer) filter (where s = 4) as four,
    avg((descents_fine >= s)::integer) filter (where s = 5) as five,
    avg((descents_fine >= s)::integer) filter (where s = 6) as six,
    two - three as effect, three - four as effect_2, four - five as effect_3
from placed
group by seed
