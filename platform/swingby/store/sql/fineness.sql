coalesce(list_max(list_transform(r.recorded, lambda token: case
    when token = 'steps:every' then 1e18
    when starts_with(token, 'steps:all:') then 1e15 + coalesce(try_cast(split_part(token, ':', 3) as double), 0)
    when token = 'steps:epoch' then 1e12
    when starts_with(token, 'steps:') then try_cast(split_part(token, ':', 3) as double) end)), 0)