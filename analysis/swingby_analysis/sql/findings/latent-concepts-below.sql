-- Of every run that is narrower than the number of concepts: does its OOD loss come down to one percent of L_ref?
with
-- include: findings/shared/runs,
narrow as (select *, final_loss <= 0.01 as found from runs where width < s and final_loss is not null)
select
    count(*) filter (where found) = 0 as holds, count(*) as runs, count(*) filter (where found) as found,
    count(*) filter (where found and model = 'symmetric') as symmetric,
    count(*) filter (where found and model = 'linear') as linear, count(*) filter (where found and model = 'relu') as relu,
    min(final_loss) as least
from narrow
