-- Of every run of a linear model at least as wide as the number of concepts: does it get to the answer?
with
-- include: findings/shared/runs,
wide as (select * from runs where width >= s and model in ('symmetric', 'linear'))
select
    count(*) filter (where outcome = 'generalized') >= 0.99 * count(*) as holds,
    count(*) filter (where model = 'symmetric') as symmetric,
    count(*) filter (where model = 'symmetric' and outcome = 'generalized') as symmetric_found,
    count(*) filter (where model = 'linear') as linear,
    count(*) filter (where model = 'linear' and outcome = 'generalized') as linear_found
from wide
