-- The same runs with what the detector `theory` says of them.
with_theory as (
    select runs.*, theory.* exclude (cell_id, of_shard)
    from runs left join outcomes_theory theory on theory.cell_id = runs.cell_id and theory.of_shard = runs.shard
)
