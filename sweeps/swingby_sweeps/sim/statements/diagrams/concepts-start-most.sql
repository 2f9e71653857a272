-- sweeps: diagram-concepts-start
-- asks: Of every run: does its OOD loss descend more often than there are concepts, by over a tenth of a percent of
--     L_ref?
-- found: The loss never descends more often than there are concepts: in none of {count(*)} runs, [numbers]
-- not found: The loss can descend more often than there are concepts: it does in {count(*) filter (where descents_fine
--     > s)} of {count(*)} runs, by up to {max(descents_fine - s)} descents, [numbers]
-- cannot be told: No run tells how often its loss descends.
-- numbers: counting drops of more than a tenth of a percent of L_ref.
-- holds: case when count(*) > 0 then count(*) filter (where descents_fine > s) = 0 end
select s, descents_fine from placed where descents_fine is not null
