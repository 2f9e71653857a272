-- Of every seed: does the narrow or low-dimensional net show transient memorization: two descents or more, and over a
-- rise of the OOD loss the output nears a training centre while the training loss goes on falling?
with
-- include: claims/shared/runs,
judged as (
    select *, transient_memorization as holds from runs where d <= 3
)
-- include: claims/shared/deep-rows
