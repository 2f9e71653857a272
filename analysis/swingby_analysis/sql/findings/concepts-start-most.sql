-- Of every run: does its OOD loss descend more often than there are concepts, by over a tenth of a percent of L_ref?
with
-- include: findings/shared/runs,
told as (select * from runs where descents_fine is not null)
select
    count(*) filter (where descents_fine > s) = 0 as holds, count(*) as runs,
    count(*) filter (where descents_fine > s) as more, max(descents_fine - s) as beyond
from told
