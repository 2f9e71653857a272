-- When the newest shard of each sweep was finished.
select sweep_id, max(finished) as finished from shards group by sweep_id
