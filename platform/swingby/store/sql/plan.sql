-- What the views `sweeps` and `conventions` read of a plan.
select any_value(points) from (
  select cast(json_extract($1, '$.points') as bigint) as points,
         cast(json_extract($1, '$.points') as bigint) * json_array_length($1, '$.seeds') as cells,
         json_extract_string($1, '$.preset') as preset,
         from_json(json_extract($1, '$.presets'), '["VARCHAR"]') as presets)
where coalesce(cells, 0) >= 0 and coalesce(len(preset), 0) + coalesce(len(presets), 0) >= 0
