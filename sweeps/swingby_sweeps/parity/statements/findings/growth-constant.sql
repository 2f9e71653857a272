-- sweeps: diagram-parity-growth
-- asks: Of every seed, for skills of two, three and four bits: how far below a tenth is the distance of g, from the
--     slope of ln R between a hundredth and a tenth of S, from that of the unit that grows fastest?
-- fresh fresh-parity-growth: Whether the parity alone says how fast a skill leaves a small start
-- found: From a small start a skill grows within a tenth as fast as the single unit that suits the parity best: the
--     measured constant g is {two:.2f}, {three:.2f} and {four:.2f} times 2^m sqrt(m) / C(m - 2, floor(m/2) - 1) for
--     skills of two, three and four bits.
-- not found: A skill does not leave a small start within a tenth as fast as the single unit that suits the parity best:
--     the measured constant g is {two:.2f}, {three:.2f} and {four:.2f} times the predicted one for skills of two, three
--     and four bits.
-- cannot be told: Whether a skill leaves a small start as fast as the single unit that suits the parity best, within a
--     tenth, cannot be told: the measured constant g is {two:.2f}, {three:.2f} and {four:.2f} times the predicted one
--     for skills of two, three and four bits.
-- after: The start of .003 was added beside .001 before results were seen, since a map has two axes.
select
    seed,
    avg(ratio) filter (where m = 2) as two, avg(ratio) filter (where m = 3) as three,
    avg(ratio) filter (where m = 4) as four,
    0.1 - abs(two - 1) as effect, 0.1 - abs(three - 1) as effect_2, 0.1 - abs(four - 1) as effect_3
from (select *, growth_constant / predicted_growth_constant as ratio from runs)
group by seed
