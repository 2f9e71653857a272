-- sweeps: diagram-latent-concepts
-- asks: Of every run of a linear model at least as wide as the number of concepts: does it get to the answer? Do nearly
--     all of them (the lower end of Wilson's 95 % interval of their share is at least 99 %)?
-- found: A linear model that is wide enough gets to the answer: [numbers]
-- not found: A linear model that is wide enough need not get to the answer: [numbers]
-- cannot be told: Fewer than 20 runs of a linear model are wide enough.
-- numbers: {count(*) filter (where model = 'symmetric' and found)} of {count(*) filter (where model = 'symmetric')}
--     runs of the symmetric model do, and {count(*) filter (where model = 'linear' and found)} of {count(*) filter
--     (where model = 'linear')} of the linear net.
-- holds: case when count(*) >= 20 then any_value(lower_end) >= 0.99 end
-- after: The share was held against 99 % by itself, of however few runs; now the lower end of its Wilson interval is.
with wide as (select model, found from placed where width >= s and model in ('symmetric', 'linear')),
counted as (select count(*) as n, count(*) filter (where found) as k from wide)
select model, found, (k + 1.921 - 1.96 * sqrt(k * (1 - k / n) + 0.9604)) / (n + 3.8415) as lower_end
from wide cross join counted
